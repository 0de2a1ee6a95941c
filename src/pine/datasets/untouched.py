"""Public graphs that are used for no choice: no setting, default or rule was ever chosen on them, and none may be.

They are of different kinds: several node types, label sets, more than 30,000 nodes, friends, neighbors of other
classes. A score on one of them is reported, and never looked at again to change a method.
"""

from __future__ import annotations

from dataclasses import replace

from pine.datasets.entry import Entry
from pine.datasets.sources import UNSTATED

HECO = "as the authors of HeCo publish it (Wang et al. 2021); which class is which is not stated"

ENTRIES = (
    Entry(
        name="acm",
        nodes={"paper": 4_019, "author": 7_167, "subject": 60},
        edges={"written-by": 13_407, "about": 4_019},
        rows={"written-by": 13_407, "about": 4_019},
        classes=3,
        source=f"ACM, papers of three fields with their authors, subjects and words, {HECO}; authors' words left out",
        license=f"{UNSTATED} nor for liun-online/HeCo",
        where="The home is github.com/liun-online/HeCo.",
        files=("acm.npz", "acm-features.npz"),
    ),
    Entry(
        name="freebase-movies",
        nodes={"movie": 3_492, "actor": 33_401, "director": 2_502, "writer": 4_459},
        edges={"stars": 65_341, "directed-by": 3_762, "written-by": 6_414},
        rows={"stars": 65_341, "directed-by": 3_762, "written-by": 6_414},
        classes=3,
        source=f"Freebase, movies of three classes with actors, directors and writers, {HECO}; it has no features",
        license=f"Freebase itself is CC BY, {UNSTATED} nor for liun-online/HeCo",
        where="The home is github.com/liun-online/HeCo.",
        files=("freebase-movies.npz",),
    ),
    Entry(
        name="pos",
        nodes={"node": 4_777},
        edges={"to": 92_295},
        rows={"to": 92_517},
        classes=40,
        label_sets=True,
        source="Words that stand near each other in Wikipedia, with their part-of-speech tags (Mahoney 2011; Grover "
        "and Leskovec 2016), in the copy without weights and names of tags that ProNE's authors publish",
        license=f"THUDM/ProNE is MIT, {UNSTATED}",
        where="It began at snap.stanford.edu/node2vec as POS.mat; this copy is at github.com/THUDM/ProNE.",
        files=("pos.npz",),
    ),
    Entry(
        name="ppi-node2vec",
        nodes={"node": 3_890},
        edges={"to": 37_845},
        rows={"to": 76_584},
        classes=50,
        label_sets=True,
        names=tuple(map(str, range(1, 51))),
        source="Human proteins that interact, with their biological states (Breitkreutz et al. 2008; Grover and "
        "Leskovec 2016), in the copy that BioNEV's authors publish: one graph, not the 24 of ppi",
        license=f"xiangyue9607/BioNEV is MIT, {UNSTATED}",
        where="It began at snap.stanford.edu/node2vec as Homo_sapiens.mat; this copy is at "
        "github.com/xiangyue9607/BioNEV.",
        files=("ppi-node2vec.npz",),
    ),
    Entry(
        name="github",
        nodes={"node": 37_700},
        edges={"to": 289_003},
        rows={"to": 289_003},
        classes=2,
        names=("web", "machine learning"),
        source="GitHub developers who follow each other (Rozemberczki et al. 2021, MUSAE), without their features",
        license="benedekrozemberczki/MUSAE is GPL-3.0",
        where="The home is github.com/benedekrozemberczki/MUSAE; its features are input/features/git.json.",
        files=("github.npz",),
    ),
    Entry(
        name="lastfm-asia",
        nodes={"node": 7_624},
        edges={"to": 27_806},
        rows={"to": 27_806},
        classes=18,
        source="Asian users of LastFM who follow each other, by country (Rozemberczki and Sarkar 2020, FEATHER), "
        "without their features; which country is which is not published",
        license="benedekrozemberczki/FEATHER is MIT",
        where="The home is github.com/benedekrozemberczki/FEATHER.",
        files=("lastfm-asia.npz",),
    ),
    Entry(
        name="actor",
        nodes={"node": 7_600},
        edges={"to": 26_659},
        rows={"to": 33_391},
        classes=5,
        source="Actors who share a Wikipedia page, with words of their own pages (Tang et al. 2009; Pei et al. 2020, "
        "Geom-GCN), without the ten splits; neighbors are mostly of other classes",
        license=f"{UNSTATED} nor for graphdml-uiuc-jlu/geom-gcn",
        where="The home is github.com/graphdml-uiuc-jlu/geom-gcn, where it is called film.",
        files=("actor.npz", "actor-features.npz"),
    ),
    Entry(
        name="tolokers",
        nodes={"node": 11_758},
        edges={"to": 519_000},
        rows={"to": 519_000},
        classes=2,
        names=("not banned", "banned"),
        source="Workers of Toloka who did the same tasks, with ten features (Platonov et al. 2023), without the ten "
        "splits; 78% are of one class",
        license=f"{UNSTATED} nor for yandex-research/heterophilous-graphs",
        where="The home is github.com/yandex-research/heterophilous-graphs.",
        files=("tolokers.npz", "tolokers-features.npz"),
    ),
)
UNTOUCHED = tuple(replace(entry, untouched=True) for entry in ENTRIES)
