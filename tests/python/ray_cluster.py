"""A cluster of Ray with two nodes of one processor on this machine, until standard input ends."""

import json
import os
import socket
import sys

os.environ.update(RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER="0", RAY_USAGE_STATS_ENABLED="0")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def main():
    from ray.cluster_utils import Cluster

    port = free_port()
    cluster = Cluster(
        initialize_head=True,
        head_node_args={"num_cpus": 1, "ray_client_server_port": port, "include_dashboard": False,
                        "node_ip_address": "127.0.0.1"},
    )  # fmt: skip
    second = cluster.add_node(num_cpus=1, node_ip_address="127.0.0.1")
    cluster.wait_for_nodes()
    raylets = [info.process.pid for info in second.all_processes["raylet"]]
    print(json.dumps({"port": port, "second": raylets}), flush=True)
    sys.stdin.read()
    cluster.shutdown()


if __name__ == "__main__":
    main()
