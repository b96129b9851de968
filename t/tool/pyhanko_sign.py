# SPDX-License-Identifier: Apache-2.0
"""pyhanko_sign.py PYHANKO PKI TSA-URL IN.pdf FORM.pdf OUT: documents that pyHanko signs, one for each function of this
file whose name begins with `make_`, as OUT/<name>.pdf. PYHANKO is the folder of its source, PKI that of a Sigreq::PKI,
with the CRLs of its authorities and seals of other keys. FORM.pdf has a text field `Text`. Exit status 77 if a package
is missing."""
import glob, io, logging, os, sys, warnings

sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
warnings.simplefilter('ignore')
logging.disable(logging.CRITICAL)
try:
    startup = os.path.join(sys.argv[1], 'sitecustomize.py')
    if os.path.exists(startup):
        exec(open(startup).read())
    from asn1crypto import crl
    from pyhanko.keys import load_certs_from_pemder
    from pyhanko.pdf_utils import generic
    from pyhanko.pdf_utils.incremental_writer import IncrementalPdfFileWriter
    from pyhanko.pdf_utils.reader import PdfFileReader
    from pyhanko.sign import signers
    from pyhanko.sign.fields import FieldMDPAction, FieldMDPSpec, MDPPerm, SigFieldSpec, SigSeedSubFilter
    from pyhanko.sign.signers.pdf_signer import PdfSignatureMetadata, PdfTimeStamper
    from pyhanko.sign.timestamps.requests_client import HTTPTimeStamper
    from pyhanko_certvalidator import ValidationContext
except ImportError as error:
    print('pyhanko_sign.py: missing: %s' % error, file=sys.stderr)
    sys.exit(77)

_, _, PKI, TSA, IN, FORM, OUT = sys.argv
PADES, ADOBE = SigSeedSubFilter.PADES, SigSeedSubFilter.ADOBE_PKCS7_DETACHED
roots = list(load_certs_from_pemder([PKI + '/roots.crt']))
crls = [crl.CertificateList.load(open(name, 'rb').read()) for name in sorted(glob.glob(PKI + '/*.crl'))]
stamper = HTTPTimeStamper(TSA)


def proofs():
    others = list(load_certs_from_pemder([PKI + '/ca.crt', PKI + '/tsa1.crt']))
    return ValidationContext(trust_roots=roots, crls=crls, other_certs=others, allow_fetching=False,
                             revocation_mode='require')


def sign(document, field='One', seal='seal', stamp=False, pss=False, place=None, **more):
    signer = signers.SimpleSigner.load('%s/%s.key' % (PKI, seal), '%s/%s.crt' % (PKI, seal), prefer_pss=pss,
                                       ca_chain_files=[PKI + '/ca.crt'])
    if more.get('embed_validation_info'):
        more['validation_context'] = proofs()
    more.setdefault('subfilter', PADES)
    meta = PdfSignatureMetadata(field_name=field, name='Ann Lee', reason='Lease', **more)
    done = signers.sign_pdf(IncrementalPdfFileWriter(io.BytesIO(document)), meta, signer,
                            timestamper=stamper if stamp else None, new_field_spec=place)
    return done.getvalue()


def read(path):
    return open(path, 'rb').read()


def update(document, change):
    writer = IncrementalPdfFileWriter(io.BytesIO(document))
    change(writer)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def fill(writer):
    field = writer.root['/AcroForm']['/Fields'].raw_get(0).get_object()
    field['/V'] = generic.pdf_string('Yes')
    stream = generic.StreamObject(
        dict_data={'/Type': generic.pdf_name('/XObject'), '/Subtype': generic.pdf_name('/Form'),
                   '/BBox': generic.ArrayObject(map(generic.NumberObject, (0, 0, 100, 20)))}, stream_data=b'q Q')
    field['/AP'] = generic.DictionaryObject({'/N': writer.add_object(stream)})
    writer.update_container(field)


def draw(writer):
    writer.add_stream_to_page(0, writer.add_object(generic.StreamObject(stream_data=b'0 0 200 200 re f')))


def annotate(writer):
    page = writer.find_page_for_modification(0)[0].get_object()
    note = writer.add_object(generic.DictionaryObject({
        '/Type': generic.pdf_name('/Annot'), '/Subtype': generic.pdf_name('/Text'),
        '/Rect': generic.ArrayObject(map(generic.NumberObject, (10, 10, 30, 30))),
        '/Contents': generic.pdf_string('a note')}))
    page['/Annots'] = generic.ArrayObject(list(page.get('/Annots', [])) + [note])
    writer.update_container(page)


def entitle(writer):
    writer.set_info(generic.DictionaryObject({'/Title': generic.pdf_string('Another title')}))


def stamp_document(document, prove=True):
    writer = IncrementalPdfFileWriter(io.BytesIO(document))
    context = proofs() if prove else None
    return PdfTimeStamper(stamper).timestamp_pdf(writer, 'sha256', validation_context=context).getvalue()


def renew(document):
    return PdfTimeStamper(stamper).update_archival_timestamp_chain(PdfFileReader(io.BytesIO(document)),
                                                                   proofs()).getvalue()


def flip(document):
    at = document.index(b'/MediaBox')
    return document[:at] + b'/MediaBoy' + document[at + 9:]


LT = {'stamp': True, 'embed_validation_info': True}
LTA = {'use_pades_lta': True, **LT}
ALL, TEXT = FieldMDPSpec(FieldMDPAction.ALL), FieldMDPSpec(FieldMDPAction.INCLUDE, ['Text'])


def lock(spec):
    return {'place': SigFieldSpec('One', field_mdp_spec=spec)}


make_b_b = lambda: sign(read(IN))
make_b_t = lambda: sign(read(IN), stamp=True)
make_b_lt = lambda: sign(read(IN), **LT)
make_b_lta = lambda: sign(read(IN), **LTA)
make_renewed = lambda: renew(make_b_lta())
make_renewed_twice = lambda: renew(renew(make_b_lta()))
make_adobe = lambda: sign(read(IN), subfilter=ADOBE)
make_adobe_stamped = lambda: sign(read(IN), subfilter=ADOBE, stamp=True)
make_adobe_proofs = lambda: sign(read(IN), subfilter=ADOBE, **LT)
make_sha512 = lambda: sign(read(IN), md_algorithm='sha512')
make_sha3 = lambda: sign(read(IN), md_algorithm='sha3_256')
make_p384 = lambda: sign(read(IN), seal='p384')
make_p521 = lambda: sign(read(IN), seal='p521')
make_rsa = lambda: sign(read(IN), seal='rsa')
make_rsa_pss = lambda: sign(read(IN), seal='rsa', pss=True)
make_ed25519 = lambda: sign(read(IN), seal='ed25519')
make_ed448 = lambda: sign(read(IN), seal='ed448')
make_stranger = lambda: sign(read(IN), seal='stranger')
make_expired = lambda: sign(read(IN), seal='expired')
make_two = lambda: sign(make_b_b(), 'Two', 'seal2')
make_two_b_lt = lambda: sign(make_b_lt(), 'Two', 'seal2', **LT)
make_two_b_lta = lambda: sign(make_b_lta(), 'Two', 'seal2', **LTA)
make_two_then_renewed = lambda: renew(make_two_b_lta())
make_b_b_then_stamped = lambda: stamp_document(make_b_b())
make_b_lt_then_stamped = lambda: stamp_document(make_b_lt(), prove=False)
make_stamped_only = lambda: stamp_document(read(IN))
make_stamped_then_b_t = lambda: sign(stamp_document(read(IN)), stamp=True)
make_certified_1 = lambda: sign(read(IN), certify=True, docmdp_permissions=MDPPerm.NO_CHANGES)
make_certified_2 = lambda: sign(read(IN), certify=True, docmdp_permissions=MDPPerm.FILL_FORMS)
make_certified_3 = lambda: sign(read(IN), certify=True, docmdp_permissions=MDPPerm.ANNOTATE)
make_certified_1_lta = lambda: sign(read(IN), certify=True, docmdp_permissions=MDPPerm.NO_CHANGES, **LTA)
make_certified_1_filled = lambda: update(
    sign(read(FORM), certify=True, docmdp_permissions=MDPPerm.NO_CHANGES), fill)
make_certified_2_filled = lambda: update(
    sign(read(FORM), certify=True, docmdp_permissions=MDPPerm.FILL_FORMS), fill)
make_certified_3_noted = lambda: update(
    sign(read(IN), certify=True, docmdp_permissions=MDPPerm.ANNOTATE), annotate)
make_certified_2_signed = lambda: sign(make_certified_2(), 'Two', 'seal2')
make_form = lambda: sign(read(FORM))
make_form_filled = lambda: update(make_form(), fill)
make_form_filled_signed = lambda: sign(make_form_filled(), 'Two', 'seal2')
make_locked_filled = lambda: update(sign(read(FORM), **lock(ALL)), fill)
make_locked_text_filled = lambda: update(sign(read(FORM), **lock(TEXT)), fill)
make_locked_signed = lambda: sign(sign(read(FORM), **lock(TEXT)), 'Two', 'seal2')
make_drawn = lambda: update(make_b_b(), draw)
make_drawn_then_signed = lambda: sign(make_drawn(), 'Two', 'seal2')
make_drawn_after_lta = lambda: update(make_b_lta(), draw)
make_drawn_then_stamped = lambda: stamp_document(update(make_b_t(), draw))
make_noted = lambda: update(make_b_b(), annotate)
make_entitled = lambda: update(make_b_b(), entitle)
make_locked_filled_signed = lambda: sign(make_locked_filled(), 'Two', 'seal2')
make_noted_signed = lambda: sign(make_noted(), 'Two', 'seal2')
make_entitled_signed = lambda: sign(make_entitled(), 'Two', 'seal2')
make_broken = lambda: flip(make_b_b())
make_broken_lta = lambda: flip(make_b_lta())

for name, make in list(globals().items()):
    if name.startswith('make_'):
        try:
            with open('%s/%s.pdf' % (OUT, name[5:]), 'wb') as out:
                out.write(make())
        except Exception as error:
            sys.exit('%s: %s: %s' % (name, type(error).__name__, error))
