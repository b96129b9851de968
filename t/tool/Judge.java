/* SPDX-License-Identifier: Apache-2.0 */
/* Judge.java: what PDFBox and Bouncy Castle say of the signatures and document timestamps of a PDF. It shares no code
 * with OpenSSL, qpdf or this project. t/lib/Sigreq/Judge.pm compiles and runs it.
 *
 * It reads requests from its standard input until that ends, because to start it takes much longer than to judge a
 * document. A request is a line: ROOTS.pem, TIME (when the files are judged, such as 2035-01-31T00:00:00Z), FILE…, with
 * tabs between them.
 *
 * It prints one line of JSON for each file. A signature is judged at the time that its timestamp proves, or else the
 * next document timestamp, and a document timestamp at the time that the next one proves. "proofs" tells whether OCSP
 * responses or CRLs of the file prove, for that time, that no certificate of the chain was revoked.
 *
 * A line "draw", a tab and the name of a file asks for its pages instead: their width, height and gray pixels. */
import java.awt.image.BufferedImage;
import java.awt.image.DataBufferByte;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.security.Security;
import java.security.cert.*;
import java.time.Instant;
import java.util.*;
import org.apache.pdfbox.cos.*;
import org.apache.pdfbox.pdmodel.PDDocument;
import org.apache.pdfbox.pdmodel.interactive.digitalsignature.PDSignature;
import org.apache.pdfbox.pdmodel.interactive.form.PDSignatureField;
import org.apache.pdfbox.rendering.ImageType;
import org.apache.pdfbox.rendering.PDFRenderer;
import org.bouncycastle.asn1.cms.Attribute;
import org.bouncycastle.asn1.cms.ContentInfo;
import org.bouncycastle.asn1.pkcs.PKCSObjectIdentifiers;
import org.bouncycastle.cert.X509CertificateHolder;
import org.bouncycastle.cert.ocsp.*;
import org.bouncycastle.cms.*;
import org.bouncycastle.cms.jcajce.JcaSimpleSignerInfoVerifierBuilder;
import org.bouncycastle.jce.provider.BouncyCastleProvider;
import org.bouncycastle.operator.jcajce.JcaContentVerifierProviderBuilder;
import org.bouncycastle.operator.jcajce.JcaDigestCalculatorProviderBuilder;
import org.bouncycastle.tsp.TimeStampToken;
import org.bouncycastle.util.Store;

public class Judge {
    private static final String OCSP_SIGNING = "1.3.6.1.5.5.7.3.9";
    private static final Set<TrustAnchor> ANCHORS = new HashSet<>();
    private static CertificateFactory factory;

    /* What the DSS of the file has. */
    private final List<X509Certificate> certificates = new ArrayList<>();
    private final List<X509CRL> crls = new ArrayList<>();
    private final List<BasicOCSPResp> responses = new ArrayList<>();
    private final byte[] file;
    private Date now;

    private Judge(byte[] file, Date now) {
        this.file = file;
        this.now = now;
    }

    private static X509Certificate certificate(byte[] der) throws CertificateException {
        return (X509Certificate) factory.generateCertificate(new ByteArrayInputStream(der));
    }

    private static byte[] bytes(COSBase object) throws IOException {
        try (InputStream in = ((COSStream) object).createInputStream()) {
            return in.readAllBytes();
        }
    }

    private void readStore(PDDocument document) throws Exception {
        COSBase store = document.getDocumentCatalog().getCOSObject().getDictionaryObject("DSS");
        for (String key : new String[] {"Certs", "CRLs", "OCSPs"}) {
            COSBase list = store instanceof COSDictionary ? ((COSDictionary) store).getDictionaryObject(key) : null;
            for (int i = 0; list instanceof COSArray && i < ((COSArray) list).size(); i++) {
                byte[] der = bytes(((COSArray) list).getObject(i));
                if (key.equals("Certs")) certificates.add(certificate(der));
                else if (key.equals("CRLs")) crls.add((X509CRL) factory.generateCRL(new ByteArrayInputStream(der)));
                else responses.add((BasicOCSPResp) new OCSPResp(der).getResponseObject());
            }
        }
    }

    /* ------------------------------------------------------------------------------------------- revocation */

    private static boolean mayAnswer(BasicOCSPResp response, X509Certificate issuer) throws Exception {
        List<X509CertificateHolder> signers = new ArrayList<>(Arrays.asList(response.getCerts()));
        signers.add(new X509CertificateHolder(issuer.getEncoded()));
        for (X509CertificateHolder holder : signers) {
            X509Certificate signer = certificate(holder.getEncoded());
            boolean may = signer.equals(issuer);
            if (!may && signer.getExtendedKeyUsage() != null && signer.getExtendedKeyUsage().contains(OCSP_SIGNING)) {
                signer.verify(issuer.getPublicKey());
                may = true;
            }
            if (may && response.isSignatureValid(new JcaContentVerifierProviderBuilder().build(holder))) return true;
        }
        return false;
    }

    /* Returns true if the certificate was good at this time, false without a proof. Throws if it was revoked. */
    private boolean isProved(X509Certificate certificate, X509Certificate issuer, Date when) throws Exception {
        boolean proved = false;
        for (BasicOCSPResp response : responses)
            for (SingleResp single : response.getResponses()) {
                CertificateID id = single.getCertID();
                if (!id.getSerialNumber().equals(certificate.getSerialNumber())
                    || !id.matchesIssuer(new X509CertificateHolder(issuer.getEncoded()),
                                         new JcaDigestCalculatorProviderBuilder().build())
                    || !mayAnswer(response, issuer))
                    continue;
                CertificateStatus status = single.getCertStatus();
                if (status instanceof RevokedStatus && !((RevokedStatus) status).getRevocationTime().after(when))
                    throw new CertPathValidatorException("revoked: " + certificate.getSubjectX500Principal());
                if (status == CertificateStatus.GOOD || status instanceof RevokedStatus)
                    proved |= single.getNextUpdate() != null && single.getNextUpdate().after(when);
            }
        for (X509CRL crl : crls) {
            if (!crl.getIssuerX500Principal().equals(issuer.getSubjectX500Principal())) continue;
            crl.verify(issuer.getPublicKey());
            X509CRLEntry entry = crl.getRevokedCertificate(certificate);
            if (entry != null && !entry.getRevocationDate().after(when))
                throw new CertPathValidatorException("revoked: " + certificate.getSubjectX500Principal());
            proved |= crl.getNextUpdate() != null && crl.getNextUpdate().after(when);
        }
        return proved;
    }

    /* Sets "chain" to "ok" or to the reason why there is none, and "proofs". */
    private void judgeChain(Map<String, Object> row, X509Certificate leaf, Store<X509CertificateHolder> more,
                            Date when) {
        row.put("chain", "ok");
        row.put("proofs", false);
        try {
            List<Object> store = new ArrayList<>(certificates);
            for (X509CertificateHolder holder : more.getMatches(null)) store.add(certificate(holder.getEncoded()));
            store.add(leaf);
            X509CertSelector target = new X509CertSelector();
            target.setCertificate(leaf);
            PKIXBuilderParameters how = new PKIXBuilderParameters(ANCHORS, target);
            how.addCertStore(CertStore.getInstance("Collection", new CollectionCertStoreParameters(store)));
            how.setDate(when);
            how.setRevocationEnabled(false);
            PKIXCertPathBuilderResult path =
                (PKIXCertPathBuilderResult) CertPathBuilder.getInstance("PKIX").build(how);
            List<? extends java.security.cert.Certificate> chain = path.getCertPath().getCertificates();
            boolean proved = true;
            for (int i = 0; i < chain.size(); i++) {
                X509Certificate issuer = i + 1 < chain.size() ? (X509Certificate) chain.get(i + 1)
                                                              : path.getTrustAnchor().getTrustedCert();
                proved &= isProved((X509Certificate) chain.get(i), issuer, when);
            }
            row.put("proofs", proved);
        } catch (Exception problem) {
            row.put("chain", problem.getClass().getSimpleName() + ": " + problem.getMessage());
        }
    }

    /* ------------------------------------------------------------------------------------------- signatures */

    @SuppressWarnings("unchecked") // SignerId is a Selector of certificates
    private static X509CertificateHolder signerOf(Store<X509CertificateHolder> all, SignerId id) throws CMSException {
        Collection<X509CertificateHolder> found = all.getMatches(id);
        if (found.isEmpty()) throw new CMSException("the certificate of the signer is missing");
        return found.iterator().next();
    }

    /* Returns the time of a token if it is over these bytes and its chain is good. Otherwise returns null. */
    private Date judgeToken(Map<String, Object> row, TimeStampToken token, byte[] over, Date when) {
        try {
            MessageDigest hash = MessageDigest.getInstance(
                token.getTimeStampInfo().getMessageImprintAlgOID().getId(), "BC");
            row.put("intact", false);
            if (!Arrays.equals(hash.digest(over), token.getTimeStampInfo().getMessageImprintDigest())) return null;
            X509CertificateHolder holder = signerOf(token.getCertificates(), token.getSID());
            token.validate(new JcaSimpleSignerInfoVerifierBuilder().setProvider("BC").build(holder));
            row.put("intact", true);
            Date time = token.getTimeStampInfo().getGenTime();
            row.put("time", time.toInstant().toString());
            judgeChain(row, certificate(holder.getEncoded()), token.getCertificates(), when);
            return row.get("chain").equals("ok") ? time : null;
        } catch (Exception problem) {
            row.put("error", String.valueOf(problem));
            return null;
        }
    }

    private void judgeSignature(Map<String, Object> row, byte[] der, byte[] signed) throws Exception {
        CMSSignedData cms = new CMSSignedData(new CMSProcessableByteArray(signed), der);
        SignerInformation signer = cms.getSignerInfos().iterator().next();
        X509CertificateHolder holder = signerOf(cms.getCertificates(), signer.getSID());
        X509Certificate leaf = certificate(holder.getEncoded());
        boolean intact = false;
        try {
            intact = signer.verify(new JcaSimpleSignerInfoVerifierBuilder().setProvider("BC").build(holder));
        } catch (CMSException problem) {
            row.put("error", String.valueOf(problem));
        }
        row.put("intact", intact);
        Attribute stamp = signer.getUnsignedAttributes() == null ? null
            : signer.getUnsignedAttributes().get(PKCSObjectIdentifiers.id_aa_signatureTimeStampToken);
        Date when = now;
        if (stamp != null) {
            Map<String, Object> about = new LinkedHashMap<>();
            row.put("stamp", about);
            TimeStampToken token = new TimeStampToken(ContentInfo.getInstance(stamp.getAttrValues().getObjectAt(0)));
            Date time = judgeToken(about, token, signer.getSignature(), now);
            if (time != null) when = time;
        }
        judgeChain(row, leaf, cms.getCertificates(), when);
    }

    private static String fieldOf(PDDocument document, PDSignature signature) throws IOException {
        for (PDSignatureField field : document.getSignatureFields())
            if (field.getSignature() != null && field.getSignature().getCOSObject() == signature.getCOSObject())
                return field.getFullyQualifiedName();
        return null;
    }

    /* The newest first, because a document timestamp proves what is older. */
    private List<Map<String, Object>> judge() throws Exception {
        List<Map<String, Object>> rows = new ArrayList<>();
        try (PDDocument document = PDDocument.load(file)) {
            readStore(document);
            List<PDSignature> all = new ArrayList<>(document.getSignatureDictionaries());
            all.sort(Comparator.comparing(one -> -one.getByteRange()[2]));
            for (PDSignature one : all) {
                Map<String, Object> row = new LinkedHashMap<>();
                boolean stamp = "ETSI.RFC3161".equals(one.getSubFilter());
                int[] range = one.getByteRange();
                rows.add(0, row);
                row.put("field", fieldOf(document, one));
                row.put("kind", stamp ? "timestamp" : "signature");
                row.put("whole", range[2] + range[3] == file.length);
                byte[] der = one.getContents(file), signed = one.getSignedContent(file);
                try {
                    if (stamp) {
                        Date time = judgeToken(row, new TimeStampToken(new CMSSignedData(der)), signed, now);
                        if (time != null) now = time;
                    } else {
                        judgeSignature(row, der, signed);
                    }
                } catch (Exception problem) {
                    row.put("error", String.valueOf(problem));
                }
            }
        }
        return rows;
    }

    private static Map<String, Object> draw(File file) {
        List<Map<String, Object>> pages = new ArrayList<>();
        try (PDDocument document = PDDocument.load(file)) {
            PDFRenderer renderer = new PDFRenderer(document);
            for (int i = 0; i < document.getNumberOfPages(); i++) {
                BufferedImage image = renderer.renderImage(i, 0.5f, ImageType.GRAY);
                byte[] pixels = ((DataBufferByte) image.getRaster().getDataBuffer()).getData();
                pages.add(Map.of("width", image.getWidth(), "height", image.getHeight(), "pixels",
                                 Base64.getEncoder().encodeToString(pixels)));
            }
        } catch (Exception problem) {
            return Map.of("error", String.valueOf(problem));
        }
        return Map.of("pages", pages);
    }

    /* --------------------------------------------------------------------------------------------- output */

    private static String json(Object value) {
        if (value == null || value instanceof Boolean) return String.valueOf(value);
        StringBuilder text = new StringBuilder();
        if (value instanceof Map) {
            for (Map.Entry<?, ?> one : ((Map<?, ?>) value).entrySet())
                text.append(text.length() > 0 ? "," : "").append(json(one.getKey())).append(':')
                    .append(json(one.getValue()));
            return "{" + text + "}";
        }
        if (value instanceof List) {
            for (Object one : (List<?>) value) text.append(text.length() > 0 ? "," : "").append(json(one));
            return "[" + text + "]";
        }
        for (char one : value.toString().toCharArray())
            text.append(one < 32 || one == '"' || one == '\\' || one > 126 ? String.format("\\u%04x", (int) one)
                                                                           : String.valueOf(one));
        return "\"" + text + "\"";
    }

    private static void answer(String roots, Date when, List<String> files) throws Exception {
        ANCHORS.clear();
        try (InputStream in = new FileInputStream(roots)) {
            for (java.security.cert.Certificate root : factory.generateCertificates(in))
                ANCHORS.add(new TrustAnchor((X509Certificate) root, null));
        }
        for (String name : files) {
            Map<String, Object> line = new LinkedHashMap<>();
            line.put("file", name);
            try {
                byte[] file = Files.readAllBytes(new File(name).toPath());
                line.put("signatures", new Judge(file, when).judge());
            } catch (Exception problem) {
                line.put("error", String.valueOf(problem));
            }
            System.out.println(json(line));
        }
    }

    public static void main(String[] arguments) throws Exception {
        Security.addProvider(new BouncyCastleProvider());
        factory = CertificateFactory.getInstance("X.509", "BC");
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = requests.readLine()) != null;) {
            List<String> parts = Arrays.asList(line.split("\t"));
            if (parts.get(0).equals("draw")) System.out.println(json(draw(new File(parts.get(1)))));
            else answer(parts.get(0), Date.from(Instant.parse(parts.get(1))), parts.subList(2, parts.size()));
        }
    }
}
