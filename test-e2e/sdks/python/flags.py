"""Evaluates flags (../../flags/program-flag-sdks.ts). Reads cases and writes results as lines of JSON."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor


def evaluate_flags(client, is_local):
    if is_local:
        client.load_feature_flags()

    def evaluate(line):
        case = json.loads(line)
        result = client.get_feature_flag_result(
            case["key"],
            case["distinct_id"],
            groups=case["groups"],
            person_properties=case["person_properties"],
            group_properties=case["group_properties"],
            device_id=case["device_id"],
            only_evaluate_locally=is_local,
            send_feature_flag_events=False,
        )
        return json.dumps(
            {
                "number": case["number"],
                "value": result.get_value() if result else None,
                "payload": result.payload if result else None,
            }
        )

    with ThreadPoolExecutor(8) as threads:
        for result in threads.map(evaluate, sys.stdin):
            print(result)
