"""DBLP's four areas: authors joined by the papers they wrote together and by the title words they use.

The file lists 28,702 authors and 13,575 words. The paper's subset is not published; this is ours beside it:

    |                      | the paper | here    | how                                                      |
    |----------------------|-----------|---------|----------------------------------------------------------|
    | authors              | 27K       | 27,199  | the authors with at least one coauthor                   |
    | coauthor edges       | 66,832    | 66,832  | all                                                      |
    | words                | 3.7K      | 3,704   | 4 letters or more, in 4 papers or more, no stop word     |
    | author-word edges    | 338,210   | 337,286 | those between the authors and the words above (0.3% off) |

Which stop list the paper used is unknown; of those tried, Glasgow's without "system", a content word in this field,
comes nearest. With "system" dropped as well it is 3,703 words and 334,208 edges, with NLTK's list 3,754 and 340,582,
with gensim's 3,694 and 329,360 (3,702 and 337,796 before authors without coauthors are set aside).

Ids: an author's is its row in the file, a word's is the word. Weights are numbers of papers. An author's label set is
the areas of the conferences in which they published. The file does not name its four columns; their most typical words
do (dbms, concurrency, sql; frequent, mining, patterns; robot, agent, planning; retrieval, relevance, document).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from pine.datasets.arrays import Arrays
from pine.datasets.dataset import Dataset, typed_counts
from pine.datasets.entry import Entry
from pine.graph import Graph

AUTHORS, WORDS = 28_702, 13_575  # as the file lists them
COAUTHOR = ("author", "coauthor", "author")
USES = ("author", "uses", "term")
MIN_LETTERS = 4
MIN_PAPERS = 4

# The list of the Glasgow Information Retrieval group as scikit-learn carries it, short words and "system" left out.
GLASGOW = """
about above across after afterwards again against almost alone along already also although always among amongst
amoungst amount another anyhow anyone anything anyway anywhere around back became because become becomes
becoming been before beforehand behind being below beside besides between beyond bill both bottom call cannot
cant could couldnt describe detail done down during each eight either eleven else elsewhere empty enough even
ever every everyone everything everywhere except fifteen fifty fill find fire first five former formerly forty
found four from front full further give hasnt have hence here hereafter hereby herein hereupon hers herself
himself however hundred indeed interest into itself keep last latter latterly least less made many meanwhile
might mill mine more moreover most mostly move much must myself name namely neither never nevertheless next nine
nobody none noone nothing nowhere often once only onto other others otherwise ours ourselves over part perhaps
please rather same seem seemed seeming seems serious several should show side since sincere sixty some somehow
someone something sometime sometimes somewhere still such take than that their them themselves then thence there
thereafter thereby therefore therein thereupon these they thick thin third this those though three through
throughout thru thus together toward towards twelve twenty under until upon very well were what whatever when
whence whenever where whereafter whereas whereby wherein whereupon wherever whether which while whither whoever
whole whom whose will with within without would your yours yourself yourselves
"""
STOP_WORDS = frozenset(GLASGOW.split())


def build(entry: Entry, arrays: Arrays) -> Dataset:
    """The graph of authors and words that comes nearest the paper's."""
    coauthor = arrays.edges("edges_author_coauthor_author", AUTHORS, AUTHORS, entry.rows["coauthor"])
    papers = arrays.weights("weight_author_coauthor_author", len(coauthor))
    uses = arrays.edges("edges_author_uses_term", AUTHORS, WORDS, entry.rows["uses"])
    times = arrays.weights("weight_author_uses_term", len(uses))
    labels = arrays.label_sets("labels_author", AUTHORS, entry.classes)
    words = np.char.decode(arrays.take("name_term", "S", (WORDS,)), "latin1")
    in_papers = arrays.take("paper_count_term", "iu", (WORDS,))

    authors = np.unique(coauthor)
    good = (np.char.str_len(words) >= MIN_LETTERS) & (in_papers >= MIN_PAPERS) & ~np.isin(words, list(STOP_WORDS))
    kept = good[uses[:, 1]] & np.isin(uses[:, 0], authors)
    terms = np.unique(uses[kept, 1])  # a key word is one that some author uses

    by_word = pa.table({"source": uses[kept, 0], "target": words[uses[kept, 1]]})

    graph = Graph.from_relations(
        {COAUTHOR: coauthor, USES: by_word},
        nodes={"author": authors, "term": words[terms]},
        weights={COAUTHOR: papers, USES: times[kept]},
    )
    return Dataset(
        name=entry.name,
        graph=graph,
        labels={"author": labels[authors]},
        label_names=entry.label_names,
        features=None,
        splits={},
        source=entry.credit,
        raw=typed_counts({"author": AUTHORS, "term": WORDS}, {COAUTHOR: coauthor, USES: uses}),
    )
