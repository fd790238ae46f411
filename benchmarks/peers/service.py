"""The peer that a team would write first: FastAPI over asyncpg, one statement for each request.

It takes the same purchase and answers the same poll over the same tables. It does less than the relay: it reads no
receipt, knows one key, and pursues nothing.
"""

import base64
import hashlib
import os
import uuid
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta

import asyncpg
from fastapi import FastAPI, Header, HTTPException, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

AUTHORIZATION = "Bearer " + os.environ["BENCH_KEY"]
EPOCH = date(1970, 1, 1)
STATUSES = ["pending", "granted", "rejected", "timed_out", "transferred", "revoked"]

ACCEPT = """
WITH claimed AS (
    INSERT INTO purchases (bucket, key, validation_bucket, accepted_on, id, deadline, status)
    VALUES (get_byte($1, 0), $1, $2, $3, $4, $6, 0)
    ON CONFLICT (bucket, key) DO NOTHING
    RETURNING id
), validation AS (
    INSERT INTO validations (
        bucket, accepted_on, id, accepted_at, deadline, status, receipt_readable, publisher, app, email, customer,
        application_username, offer_id, transaction_id, app_type, ip_address, subscription_key, environment, product_id,
        bundle_id, purchase_key)
    SELECT $2, $3, id, $5, $6, 0, true, 'main', '', $7, $7, $7, $8, $9, 'ios', $10, $9, 'ProductionSandbox', $11, $12,
           $1
    FROM claimed
), receipt AS (
    INSERT INTO receipts (bucket, accepted_on, id, is_text, body)
    SELECT $2, $3, id, false, $13 FROM claimed
), pursuit AS (
    INSERT INTO pursuits (bucket, id, accepted_on, due_at, accepted_at, deadline, publisher, subscription_key, customer)
    SELECT $2, id, $3, $5, $5, $6, 'main', $9, $7 FROM claimed
)
SELECT id FROM claimed
"""

POLL = """
SELECT publisher, app, offer_id, status, reason, late, accepted_at, deadline, settled_at, expires_at
FROM validations
WHERE bucket = $1 AND accepted_on = $2 AND id = $3
"""


class Receipt(BaseModel):
    transactionId: str
    receiptData: str


class Payment(BaseModel):
    customerEmail: str
    offerId: str
    receipt: Receipt


@asynccontextmanager
async def lifespan(app: FastAPI):
    size = int(os.environ["BENCH_POOL"])
    app.state.pool = await asyncpg.create_pool(os.environ["BENCH_DATABASE_URL"], min_size=size, max_size=size)
    yield
    await app.state.pool.close()


app = FastAPI(lifespan=lifespan)


def check(authorization: str) -> None:
    if authorization != AUTHORIZATION:
        raise HTTPException(401)


def stamp(time: datetime | None) -> str | None:
    return time and time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@app.get("/healthz")
async def healthz():
    return {"status": "ok"}


@app.post("/apple/payment", status_code=202)
async def accept(payment: Payment, request: Request, authorization: str = Header("")):
    check(authorization)
    receipt = base64.b64decode(payment.receipt.receiptData)
    email = payment.customerEmail.strip().lower()
    digest = hashlib.sha256()
    for part in ("main", "", email, payment.offerId):
        digest.update(part.encode() + b"\0")
    digest.update(receipt)
    key, made, now = digest.digest(), uuid.uuid4(), datetime.now(UTC)
    deadline, bucket = now + timedelta(seconds=60), key[1]
    async with request.app.state.pool.acquire() as connection:
        row = await connection.fetchrow(
            ACCEPT,
            key,
            bucket,
            now.date(),
            made,
            now,
            deadline,
            email,
            payment.offerId,
            payment.receipt.transactionId,
            request.client.host,
            "com.example.app.weekly",
            "com.example.app",
            receipt,
        )
    if row is None:
        raise HTTPException(409)
    public = f"{bucket:02x}{(now.date() - EPOCH).days:04x}{made.hex}"
    return JSONResponse(
        {
            "validationId": public,
            "status": "pending",
            "accessGranted": False,
            "customerEmail": email,
            "offerId": payment.offerId,
            "receivedAt": stamp(now),
            "deadline": stamp(deadline),
            "pollAfterSeconds": 5,
        },
        202,
        {"Location": f"/entitlements/{public}", "Cache-Control": "no-store", "Retry-After": "5"},
    )


@app.get("/entitlements/{public}")
async def poll(public: str, request: Request, authorization: str = Header("")):
    check(authorization)
    day = EPOCH + timedelta(days=int(public[2:6], 16))
    async with request.app.state.pool.acquire() as connection:
        row = await connection.fetchrow(POLL, int(public[:2], 16), day, uuid.UUID(public[6:]))
    if row is None:
        raise HTTPException(404)
    status = STATUSES[row["status"]]
    return JSONResponse(
        {
            "validationId": public,
            "status": status,
            "accessGranted": status == "granted",
            "offerId": row["offer_id"],
            "reason": row["reason"],
            "receivedAt": stamp(row["accepted_at"]),
            "settledAt": stamp(row["settled_at"]),
            "deadline": stamp(row["deadline"]),
            "late": row["late"],
            "expiresAt": stamp(row["expires_at"]),
        },
        200,
        {"Cache-Control": "no-store"},
    )
