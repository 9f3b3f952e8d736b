import { hierarchy, tree, type HierarchyPointNode } from 'd3-hierarchy';

import type { TraceTree } from './tree.ts';

/** Size of a node's box and the space between boxes, in units of the picture. */
export const box = { width: 176, height: 60, columnGap: 104, rowGap: 14 } as const;

export type PlacedNode = {
  readonly node: TraceTree;
  /** Left upper corner. */
  readonly x: number;
  readonly y: number;
  /** The node whose message began this node; undefined for the root. */
  readonly parent: PlacedNode | undefined;
};

export type Layout = { readonly nodes: readonly PlacedNode[]; readonly width: number; readonly height: number };

/** Places a tree from left to right: a step of the trace is a column. The space begins at 0, 0. */
export function layoutOf(root: TraceTree): Layout {
  const { width, height, columnGap, rowGap } = box;
  const place = tree<TraceTree>()
    .nodeSize([height + rowGap, width + columnGap])
    .separation((one, other) => (one.parent === other.parent ? 1 : 1.25));
  const placed = place(hierarchy(root, ({ children }) => [...children]));
  const points: HierarchyPointNode<TraceTree>[] = placed.descendants();
  // The library draws from top to bottom: its x is the row.
  const top = points.reduce((least, { x }) => Math.min(least, x), 0);
  const byPoint = new Map<HierarchyPointNode<TraceTree>, PlacedNode>();
  for (const point of points) {
    const parent = point.parent === null ? undefined : byPoint.get(point.parent);
    byPoint.set(point, { node: point.data, x: point.y, y: point.x - top, parent });
  }
  const nodes = [...byPoint.values()];
  return {
    nodes,
    width: nodes.reduce((most, { x }) => Math.max(most, x), 0) + width,
    height: nodes.reduce((most, { y }) => Math.max(most, y), 0) + height,
  };
}

/** A part of the picture. */
export type Frame = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

/** Parts of a picture that a frame shows. */
export type Shown = {
  /** Nodes whose box is in the frame. */
  readonly boxes: readonly PlacedNode[];
  /** Nodes outside whose line to the parent may cross the frame. */
  readonly lines: readonly PlacedNode[];
};

export function partsWithin({ nodes }: Layout, frame: Frame): Shown {
  const boxes: PlacedNode[] = [];
  const lines: PlacedNode[] = [];
  const right = frame.x + frame.width;
  const bottom = frame.y + frame.height;
  for (const placed of nodes) {
    const { x, y, parent = placed } = placed;
    const isAcross = parent.x <= right && x + box.width >= frame.x;
    if (!isAcross || Math.min(y, parent.y) > bottom || Math.max(y, parent.y) + box.height < frame.y) continue;
    const isInside = x <= right && y <= bottom && y + box.height >= frame.y;
    (isInside ? boxes : lines).push(placed);
  }
  return { boxes, lines };
}
