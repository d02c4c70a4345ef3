"""An authority of the tests' own, and certificates that it signs."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

BEGINS = datetime(2020, 1, 1, tzinfo=UTC)
ENDS = BEGINS + timedelta(days=36500)


@dataclass(frozen=True)
class Certificate:
    chain: Path
    key: Path
    authority: Path  # who signed it


def certificate_of(host: str, folder: Path) -> Certificate:
    """Signed by a new authority, which nobody trusts yet."""
    made = Certificate(folder / "chain.pem", folder / "key.pem", folder / "authority.pem")
    signer, name = ec.generate_private_key(ec.SECP256R1()), _name("an authority of the tests")
    ours = x509.SubjectKeyIdentifier.from_public_key(signer.public_key())
    authority = (
        _begun(name, name, signer)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_USAGE, critical=True)
        .add_extension(ours, critical=False)
    )
    key = ec.generate_private_key(ec.SECP256R1())
    server = (
        _begun(_name(host), name, key)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(host)]), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(ours), critical=False
        )
    )
    for path, builder in ((made.authority, authority), (made.chain, server)):
        signed = builder.sign(signer, hashes.SHA256())
        path.write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    made.key.write_bytes(key.private_bytes(*form))
    return made


_USAGE = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _begun(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    number = x509.random_serial_number()
    builder = x509.CertificateBuilder(issuer, subject, key.public_key(), number)
    return builder.not_valid_before(BEGINS).not_valid_after(ENDS)
