"use strict";
// Which point is under the pointer: points sorted into squares, of which only a few are looked at.

class PointGrid {
  constructor(points, count) {
    this.points = points;
    this.side = Math.max(1, Math.min(1024, Math.ceil(Math.sqrt(count / 2))));
    const cells = new Uint32Array(count);
    this.starts = new Uint32Array(this.side * this.side + 1);
    for (let i = 0; i < count; i++) {
      cells[i] = this.along(points[2 * i + 1]) * this.side + this.along(points[2 * i]);
      this.starts[cells[i] + 1]++;
    }
    for (let cell = 0; cell < this.side * this.side; cell++) this.starts[cell + 1] += this.starts[cell];
    const next = this.starts.slice();
    this.members = new Uint32Array(count);
    for (let i = 0; i < count; i++) this.members[next[cells[i]]++] = i;
  }

  along(value) {
    return Math.max(0, Math.min(this.side - 1, Math.floor(((value + 1) / 2) * this.side)));
  }

  // The nearest point within a distance for which wanted(number) holds, or -1.
  nearest(x, y, distance, wanted) {
    let best = -1;
    let least = distance * distance;
    for (let row = this.along(y - distance); row <= this.along(y + distance); row++) {
      const first = this.starts[row * this.side + this.along(x - distance)];
      const last = this.starts[row * this.side + this.along(x + distance) + 1];
      for (let at = first; at < last; at++) {
        const i = this.members[at];
        const dx = this.points[2 * i] - x;
        const dy = this.points[2 * i + 1] - y;
        const square = dx * dx + dy * dy;
        if (square <= least && wanted(i)) {
          least = square;
          best = i;
        }
      }
    }
    return best;
  }
}
