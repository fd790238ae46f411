"""An app receipt as StoreKit 1 hands it out: PKCS#7 in DER, signed by nobody, just enough to be read.

One is built; its digits stand where three bytes of it are four characters of base64, so that a load generator makes any
number of receipts of it by writing over them.
"""

import base64
import json

DIGITS = 15
SIZE = 8192
OFFER = "S123456789_US"


def _element(tag: int, contents: bytes) -> bytes:
    if len(contents) < 0x80:
        return bytes([tag, len(contents)]) + contents
    length = len(contents).to_bytes((len(contents).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + contents


def _integer(number: int) -> bytes:
    return _element(0x02, number.to_bytes(number.bit_length() // 8 + 1, "big"))


def _attribute(kind: int, value: bytes) -> bytes:
    return _element(0x30, _integer(kind) + _integer(1) + _element(0x04, value))


def _utf8(text: str) -> bytes:
    return _element(0x0C, text.encode())


def _date(text: str) -> bytes:
    return _element(0x16, text.encode())


def _receipt(mark: str, product: str, before: int, after: int) -> bytes:
    purchase = b"".join(
        [
            _attribute(1701, _integer(1)),
            _attribute(1703, _utf8(mark)),
            _attribute(1702, _utf8(product)),
            _attribute(1705, _utf8(mark)),
            _attribute(1704, _date("2026-01-01T00:00:00Z")),
            _attribute(1706, _date("2026-01-01T00:00:00Z")),
            _attribute(1708, _date("2030-01-01T00:00:00Z")),
        ]
    )
    payload = _element(
        0x31,
        b"".join(
            [
                _attribute(0, _utf8("ProductionSandbox")),
                _attribute(2, _utf8("com.example.app")),
                _attribute(4, b"\xa7" * before),
                _attribute(17, _element(0x31, purchase)),
            ]
        ),
    )
    data, signed_data = bytes.fromhex("2a864886f70d010701"), bytes.fromhex("2a864886f70d010702")
    content = _element(0x30, _element(0x06, data) + _element(0xA0, _element(0x04, payload)))
    # What would be certificates and a signature: most of a real receipt.
    certificates = _element(0xA0, _element(0x30, _element(0x04, b"\xc5" * after)))
    body = _element(0x30, _integer(1) + _element(0x31, b"") + content + certificates + _element(0x31, b""))
    return _element(0x30, _element(0x06, signed_data) + _element(0xA0, body))


def template(email: str = "load-{digits}@example.test", size: int = SIZE) -> str:
    """The body of `POST /apple/payment` with a receipt of `size` bytes, and places for its number."""
    mark = "9" * DIGITS
    for before in range(200, 203):
        after = size - len(_receipt(mark, "com.example.app.weekly", before, 4000)) + 4000
        receipt = _receipt(mark, "com.example.app.weekly", before, after)
        places = [i for i in range(len(receipt)) if receipt.startswith(mark.encode(), i)]
        if len(receipt) == size and len(places) == 2 and all(place % 3 == 0 for place in places):
            encoded = base64.b64encode(receipt).decode()
            text = encoded.replace(base64.b64encode(mark.encode()).decode(), "{digits64}")
            assert text.count("{digits64}") == 2
            # The app's own transaction id is that of the receipt: this is the first purchase of its subscription.
            return json.dumps(
                {
                    "customerEmail": email,
                    "offerId": OFFER,
                    "receipt": {"transactionId": "{digits}", "receiptData": text},
                }
            )
    raise AssertionError("no receipt of that size has its digits where base64 can be written over")
