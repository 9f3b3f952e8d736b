import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import type { Layout } from './layout.ts';
import { fitted, moved, zoomed, type Size, type View } from './view.ts';

/** Part of the window's height that a picture takes at most, and pixels around a small picture. */
const HEIGHT_PART = 0.6;
const HEIGHT_SPACE = 60;

/** Pixels of the wheel that change the size by the factor e. */
const WHEEL_PIXELS = 300;

/** View of a picture that pointers and buttons change. */
export type PictureView = {
  readonly view: View;
  /** Size of the place in pixels. */
  readonly size: Size;
  readonly change: (next: (last: View) => View) => void;
  /** Shows the whole picture, or its beginning. */
  readonly fit: () => void;
  /** Handlers of the picture: a drag moves it, the wheel with Ctrl changes its size. */
  readonly pointer: {
    readonly onWheel: (event: WheelEvent) => void;
    readonly onPointerDown: (event: PointerEvent) => void;
    readonly onPointerMove: (event: PointerEvent) => void;
    readonly onPointerUp: () => void;
  };
};

/** Follows the size of a place. The picture fits again when the place or the layout changes its size. */
export function useView(layout: Layout, place: RefObject<HTMLDivElement | null>): PictureView {
  const [size, setSize] = useState<Size>({ width: 800, height: 400 });
  const [view, change] = useState<View>(() => fitted(layout, size));
  const drag = useRef<{ x: number; y: number } | undefined>(undefined);

  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    // The policy of the page allows no style in the markup: the height is set here.
    element.style.height = `${Math.min(innerHeight * HEIGHT_PART, layout.height + HEIGHT_SPACE)}px`;
    const measure = (): void => {
      const now = { width: element.clientWidth, height: element.clientHeight };
      setSize(now);
      change(fitted(layout, now));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, [layout.width, layout.height]);

  return {
    view,
    size,
    change,
    fit: () => change(fitted(layout, size)),
    pointer: {
      onWheel(event) {
        // A wheel without a key scrolls the page. A pinch on a touchpad comes with the key.
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        const { left, top } = (event.currentTarget as Element).getBoundingClientRect();
        const factor = Math.exp(-event.deltaY / WHEEL_PIXELS);
        const point = { x: event.clientX - left, y: event.clientY - top };
        change((last) => zoomed(last, factor, point));
      },
      onPointerDown(event) {
        if (event.button === 0) drag.current = { x: event.clientX, y: event.clientY };
      },
      onPointerMove(event) {
        const from = drag.current;
        if (from === undefined || event.buttons === 0) return;
        drag.current = { x: event.clientX, y: event.clientY };
        change((last) => moved(last, from.x - event.clientX, from.y - event.clientY));
      },
      onPointerUp() {
        drag.current = undefined;
      },
    },
  };
}
