"""Evaluates flags (../../flags/program-flag-sdks.ts). Reads cases and writes results as lines of JSON."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor


def ask_flags(client, is_local):
    if is_local:
        client.load_feature_flags()

    def ask(line):
        question = json.loads(line)
        result = client.get_feature_flag_result(
            question["key"],
            question["distinct_id"],
            groups=question["groups"],
            person_properties=question["person_properties"],
            group_properties=question["group_properties"],
            device_id=question["device_id"],
            only_evaluate_locally=is_local,
            send_feature_flag_events=False,
        )
        return json.dumps(
            {
                "number": question["number"],
                "value": result.get_value() if result else None,
                "payload": result.payload if result else None,
            }
        )

    with ThreadPoolExecutor(8) as threads:
        for answer in threads.map(ask, sys.stdin):
            print(answer)
