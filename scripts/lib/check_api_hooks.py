"""What requests have to bring along that a description alone cannot say."""

import hashlib
import hmac
import json
import re

import requests
import schemathesis
from schemathesis.core.parameters import ParameterLocation

SECRET = b"check-api"
SIGNATURE = "X-Cleeng-Signature"
KEY = "Idempotency-Key"


class Finish(requests.auth.AuthBase):
    """The last that is done to a request: its bytes are known by then."""

    def __init__(self, signs: bool) -> None:
        self.signs = signs

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        body = request.body or b""
        body = body.encode() if isinstance(body, str) else body
        if self.signs:
            request.headers[SIGNATURE] = hmac.new(SECRET, body, hashlib.sha256).hexdigest()
        # A key that named another body before is refused, and one character's key soon has.
        key = request.headers.get(KEY)
        key = key.decode("latin-1") if isinstance(key, bytes) else key
        mark = hashlib.sha256(body).hexdigest()[:16]
        if key is not None and re.fullmatch(r"[!#-~][!-~]{0,200}", key):
            request.headers[KEY] = key + mark
        elif key is not None and re.fullmatch(r'"([!#-\[\]-~]|\\["\\]){1,200}"', key):
            request.headers[KEY] = key[:-1] + mark + '"'
        return request


def emails(value):
    """Every customer's address in what is sent, however deep."""
    if isinstance(value, dict):
        for name, item in value.items():
            if name in ("customerEmail", "EmailAddress") and isinstance(item, str):
                yield item
            else:
                yield from emails(item)
    elif isinstance(value, list):
        for item in value:
            yield from emails(item)


def has_long_name(value):
    """Whether a member's name has more bytes, as it is written, than the service reads (256)."""
    if isinstance(value, dict):
        return any(len(json.dumps(name)) - 2 > 256 or has_long_name(item) for name, item in value.items())
    return isinstance(value, list) and any(has_long_name(item) for item in value)


def is_backwards(body):
    """Whether a range ends before it begins, which no schema can forbid."""
    if not isinstance(body, dict):
        return False
    begin, end = body.get("from"), body.get("to")
    return isinstance(begin, str) and isinstance(end, str) and end <= begin


@schemathesis.hook
def filter_case(context, case):
    """What no schema can say: an address is counted in bytes, and a pattern counts characters."""
    if is_backwards(case.body) or has_long_name(case.body):
        return False
    for email in emails([case.body, dict(case.query or {})]):
        local, _, rest = email.rpartition("@")
        if rest and (len(local.encode("utf-8", "replace")) > 64 or len(email.encode("utf-8", "replace")) > 254):
            return False
    return True


@schemathesis.hook
def before_call(context, case, kwargs):
    names = {name.lower() for name in case.headers or {}}
    is_well = case.meta is None or not case.meta.is_negative_at(ParameterLocation.HEADER)
    signs = SIGNATURE.lower() in names and is_well
    if signs or KEY.lower() in names:
        kwargs["auth"] = Finish(signs)
