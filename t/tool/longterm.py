# SPDX-License-Identifier: Apache-2.0
"""longterm.py PYHANKO ROOTS.pem CRLS [--ades] FILE...: what pyHanko's long-term validation (PADES_LT, PADES_LTA) says of
the first signature of each PDF, as a line "PADES_LT ok, PADES_LTA NO". With --ades it adds that of EN 319 102-1
(5.6.3), such as ", AdES OK" or ", AdES NO_POE". PYHANKO is the folder of its source. Nothing is fetched: it knows what is in the file,
and the CRLs (*.crl) in a folder, for the newest document timestamp, whose proofs cannot be in the file. The time is
that of the process's clock. Exit status 77 if a package is missing."""
import asyncio, datetime, glob, logging, os, sys, warnings

sys.path.insert(0, sys.argv[1])
warnings.simplefilter('ignore')
logging.disable(logging.CRITICAL)
try:
    startup = os.path.join(sys.argv[1], 'sitecustomize.py')
    if os.path.exists(startup):
        exec(open(startup).read())
    from asn1crypto import crl, pem, x509
    from pyhanko.pdf_utils.reader import PdfFileReader
    from pyhanko.sign.validation import async_validate_pdf_ltv_signature, RevocationInfoValidationType as Kind
    from pyhanko.sign.validation.ades import ades_lta_validation
    from pyhanko.sign.validation.policy_decl import (LocalKnowledge, PdfSignatureValidationSpec,
                                                     RevinfoOnlineFetchingRule, RevocationInfoGatheringSpec,
                                                     SignatureValidationSpec)
    from pyhanko_certvalidator import ValidationContext
    from pyhanko_certvalidator.context import CertValidationPolicySpec
    from pyhanko_certvalidator.policy_decl import CertRevTrustPolicy, RevocationCheckingPolicy, RevocationCheckingRule
    from pyhanko_certvalidator.registry import SimpleTrustManager
    from pyhanko_certvalidator.revinfo.archival import CRLContainer
except ImportError as error:
    print('longterm.py: missing: %s' % error, file=sys.stderr)
    sys.exit(77)

roots = [x509.Certificate.load(der) for _, _, der in pem.unarmor(open(sys.argv[2], 'rb').read(), multiple=True)]
crls = [crl.CertificateList.load(open(name, 'rb').read()) for name in sorted(glob.glob(sys.argv[3] + '/*.crl'))]


def first_signature(file):
    return PdfFileReader(open(file, 'rb')).embedded_regular_signatures[0]


async def judge(file, kind):
    context = ValidationContext(trust_roots=roots, allow_fetching=False, crls=crls)
    strict = {'trust_roots': roots, 'allow_fetching': False, 'revocation_mode': 'require'}
    try:
        said = await async_validate_pdf_ltv_signature(first_signature(file), kind, strict,
                                                      bootstrap_validation_context=context)
        return 'ok' if said.bottom_line else 'NO'
    except Exception as error:
        print('%s: %s' % (kind.name, error), file=sys.stderr)
        return 'NO'


async def judge_ades(file):
    always = RevocationCheckingRule.CRL_OR_OCSP_REQUIRED
    policy = CertValidationPolicySpec(trust_manager=SimpleTrustManager.build(trust_roots=roots),
                                      revinfo_policy=CertRevTrustPolicy(RevocationCheckingPolicy(always, always)),
                                      time_tolerance=datetime.timedelta(seconds=60))
    local = RevocationInfoGatheringSpec(RevinfoOnlineFetchingRule.LOCAL_ONLY)
    known = LocalKnowledge(known_crls=[CRLContainer(one) for one in crls])
    spec = SignatureValidationSpec(cert_validation_policy=policy, revinfo_gathering_policy=local, local_knowledge=known)
    try:
        said = await ades_lta_validation(first_signature(file), PdfSignatureValidationSpec(spec))
        return said.ades_subindic.name
    except Exception as error:
        print('AdES: %s' % error, file=sys.stderr)
        return type(error).__name__


ades = sys.argv[4] == '--ades'
for file in sys.argv[5 if ades else 4:]:
    said = ['%s %s' % (kind.name, asyncio.run(judge(file, kind))) for kind in (Kind.PADES_LT, Kind.PADES_LTA)]
    if ades:
        said.append('AdES ' + asyncio.run(judge_ades(file)))
    print(', '.join(said))
