"""One purchase, one poll and one list by a client that openapi-python-client has made of openapi.yaml.

check_client.py FRONT APP_KEY OPS OPERATOR_KEY TRANSACTION_ID RECEIPT_FILE
"""

import pathlib
import sys
import time

from receipt_relay_client import AuthenticatedClient
from receipt_relay_client.api.entitlements import poll_entitlement
from receipt_relay_client.api.ops import list_validations
from receipt_relay_client.api.purchases import accept_purchase
from receipt_relay_client.models import AcceptedPurchase, Purchase, PurchaseReceipt, Validation


def main(front: str, app_key: str, ops: str, operator_key: str, transaction: str, receipt: str) -> None:
    app = AuthenticatedClient(base_url=front, token=app_key)
    purchase = Purchase(
        customer_email="client@example.test",
        offer_id="S123456789_US",
        receipt=PurchaseReceipt(transaction_id=transaction, receipt_data=pathlib.Path(receipt).read_text().strip()),
    )
    accepted = accept_purchase.sync(client=app, body=purchase)
    assert isinstance(accepted, AcceptedPurchase), accepted
    for _ in range(600):
        known = poll_entitlement.sync(accepted.validation_id, client=app)
        assert isinstance(known, Validation), known
        if known.status != "pending":
            break
        time.sleep(0.1)
    assert known.access_granted, known
    operator = AuthenticatedClient(base_url=ops, token=operator_key)
    listed = list_validations.sync(client=operator, customer_email="client@example.test")
    assert [item.validation_id for item in listed.items] == [accepted.validation_id], listed


main(*sys.argv[1:])
