"""From pandas columns to predictions: a table of people, who knows whom, and a model that learns from both.

python examples/node_features.py [--epochs 200]
"""

import argparse

import numpy as np
import pandas as pd

import pine

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=None)
epochs = parser.parse_args().epochs

# A made-up company: 600 people in three departments, of whom every tenth has told us theirs.
rng = np.random.default_rng(0)
department = rng.choice(["sales", "research", "support"], size=600)
people = pd.DataFrame(
    {
        "id": [f"p{i}" for i in range(600)],
        "age": rng.normal(pd.Series(department).map({"sales": 38, "research": 45, "support": 33}), 9).round(),
        "years": rng.exponential(5, size=600),
        "office": np.where(rng.random(600) < 0.5, pd.Series(department).str[:2], rng.choice(["sa", "re", "su"], 600)),
    }
)
pairs = rng.integers(600, size=(6000, 2))
same = department[pairs[:, 0]] == department[pairs[:, 1]]
knows = people["id"].to_numpy()[pairs[same | (rng.random(6000) < 0.2)]]

# Columns of words become columns of 0 and 1; nobody has to scale anything.
columns = pd.get_dummies(people[["age", "years", "office"]], columns=["office"])
graph = pine.Graph.from_edges(knows, nodes=people["id"], features=columns)
told = dict(zip(people["id"][::10], department[::10], strict=True))

model = pine.PINE(epochs=epochs).fit(graph, told)
hidden = np.arange(600) % 10 > 0
right = model.predict() == department
structure, carried, own = model.learned_.choice.weights
print(f"{graph}: accuracy {right[hidden].mean():.3f} on hidden departments")
print(f"chosen on held-out labels: structure {structure}, features along edges {carried}, own features {own}")

# Somebody new, whom nobody knows yet: the columns alone say something.
new = pd.DataFrame([{"id": "new", "age": 46.0, "years": 1.0, "office": "re"}])
both = pd.concat([people, new], ignore_index=True)
columns = pd.get_dummies(both[["age", "years", "office"]], columns=["office"])
larger = pine.Graph.from_edges(knows, nodes=both["id"], features=columns)
print("a new colleague:", model.predict(["new"], graph=larger)[0])
