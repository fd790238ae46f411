"""How often a second a publisher's back end is told what a customer of fifty subscriptions has."""

import base64
import json

from .customers import PUBLISHER, seed_customers
from .failure import BenchError
from .http import call
from .postgres import Postgres
from .relay import Relay, make_key
from .report import Result, Row
from .rounds import Run, interleave, plain, ratios
from .seed import public_ids, seed
from .stage import Stage
from .wrk import wrk

SUBSCRIPTIONS = 50
IDS = 5_000


def check(status: int, body: str, customer: str) -> None:
    """It must be all of them, each as it was sold."""
    products = {f"apple:com.example.app.product_{k:03d}": k for k in range(1, SUBSCRIPTIONS + 1)}
    answer = json.loads(body) if status == 200 else {}
    purchases = answer.get("purchases", {})
    right = answer.get("applicationUsername") == customer and purchases.keys() == products.keys()
    for product, purchase in purchases.items():
        number = SUBSCRIPTIONS + products.get(product, 0)
        right = right and purchase["productId"] == product
        right = right and purchase["purchaseId"] == f"apple:{200_000_000_000_000 + number}"
        right = right and purchase["transactionId"] == f"apple:{300_000_000_000_000 + number * 10 + 2}"
        right = right and purchase["isExpired"] is False and purchase["renewalIntent"] == "Renew"
        right = right and purchase["purchaseDate"] < purchase["expirationDate"]
    if not right:
        raise BenchError(f"a customer of {SUBSCRIPTIONS} subscriptions is answered {status} {body[:400]}")


def measure(stage: Stage, postgres: Postgres) -> Result:
    database = "bench_purchases"
    postgres.create(database, "bench_template")
    seed(postgres, database, IDS, settled_share=1)
    [customer] = seed_customers(postgres, database, 1, SUBSCRIPTIONS)
    ids_file = stage.file("purchases.ids", "\n".join(public_ids(postgres, database, IDS)))
    app_key = stage.file("purchases.app-key", make_key(stage, database))
    pair = base64.b64encode(f"{PUBLISHER}:{make_key(stage, database, role='publisher')}".encode()).decode()
    publisher_key = stage.file("purchases.publisher-key", pair)
    path = f"/v2/customers/{customer}/purchases"

    with Relay(stage, database, role="front") as relay:

        def run(script: str, *arguments) -> Run:
            before = relay.cpu_seconds(), postgres.cpu_seconds()
            load = wrk(stage, script, relay.port, *arguments)
            after = relay.cpu_seconds(), postgres.cpu_seconds()
            cpu = {
                who: (b - a) / load.requests * 1e6 for who, a, b in zip(("relay", "PostgreSQL"), before, after)
            }
            return Run(load.per_second, load.p50_ms, load.p99_ms, cpu)

        def ask() -> tuple[int, str]:
            status, _, body = call(relay.port, "GET", path, headers={"Authorization": f"Basic {pair}"})
            return status, body

        contenders = {
            "purchases": lambda: run("purchases.lua", path, publisher_key),
            "settled poll": lambda: run("poll.lua", ids_file, app_key),
        }
        check(*ask(), customer)
        for warm in contenders.values():
            warm()
        runs = interleave(stage.rounds, contenders)
        status, body = ask()
        check(status, body, customer)
    return Result(
        [
            Row(
                f"purchases, {SUBSCRIPTIONS} of one customer",
                "the settled poll of the same relay",
                ratios(runs, "purchases", "settled poll"),
                0.5,
            )
        ],
        {"runs": plain(runs), "bytes": len(body)},
    )
