import type { Frame, Layout } from './layout.ts';

/** Part of the picture that is shown: its left upper corner, and pixels a unit. */
export type View = { readonly x: number; readonly y: number; readonly scale: number };

/** Size of the place on the page in pixels. */
export type Size = { readonly width: number; readonly height: number };

const SCALE_MAX = 2;
const SCALE_MIN = 0.05;

/** Below this scale no text is readable: a fitted view is not smaller. */
const SCALE_READABLE = 0.45;

/** Units around the picture. */
const MARGIN = 12;

/** Shows the whole picture where its text stays readable; else the root at the left, in the middle of the height. */
export function fitted(layout: Layout, { width, height }: Size): View {
  const whole = Math.min(width / (layout.width + 2 * MARGIN), height / (layout.height + 2 * MARGIN));
  const scale = Math.max(SCALE_READABLE, Math.min(1, whole));
  const root = layout.nodes[0]?.y ?? 0;
  const y = layout.height * scale + 2 * MARGIN <= height ? layout.height / 2 : root + 30;
  return { x: -MARGIN, y: y - height / 2 / scale, scale };
}

/** Changes the scale around a point of the place, which stays where it is. @param factor above 1: larger */
export function zoomed(view: View, factor: number, { x, y }: { readonly x: number; readonly y: number }): View {
  const scale = Math.min(SCALE_MAX, Math.max(SCALE_MIN, view.scale * factor));
  return { x: view.x + x / view.scale - x / scale, y: view.y + y / view.scale - y / scale, scale };
}

/** Moves the view by pixels. */
export function moved(view: View, byX: number, byY: number): View {
  return { ...view, x: view.x + byX / view.scale, y: view.y + byY / view.scale };
}

export function frameOf({ x, y, scale }: View, { width, height }: Size): Frame {
  return { x, y, width: width / scale, height: height / scale };
}

/** Moves the view as little as needed to show a part. */
export function showing(view: View, size: Size, part: Frame): View {
  const frame = frameOf(view, size);
  return {
    ...view,
    x: shift(part.x, part.width, frame.x, frame.width),
    y: shift(part.y, part.height, frame.y, frame.height),
  };
}

/** Start of a span that shows a part of the same axis, as near to the old start as can be. */
function shift(start: number, length: number, from: number, span: number): number {
  if (start - MARGIN < from) return start - MARGIN;
  return start + length + MARGIN > from + span ? start + length + MARGIN - span : from;
}
