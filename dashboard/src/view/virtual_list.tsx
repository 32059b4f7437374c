// A long list of which only the visible rows are in the document.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** Rows beyond the visible ones, so that fast scrolling shows no gap. */
const SPARE_ROWS = 12;

export function VirtualList<T>({ items, rowHeight, height, row, onNearEnd, label }: {
  items: readonly T[];
  rowHeight: number;
  height: string;
  row: (item: T, index: number) => JSX.Element;
  onNearEnd?: () => void;
  label: string;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const top = useSignal(0);
  const visible = useSignal(800);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => { visible.value = element.clientHeight; });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const from = Math.max(0, Math.floor(top.value / rowHeight) - SPARE_ROWS);
  const upto = Math.min(items.length, Math.ceil((top.value + visible.value) / rowHeight) + SPARE_ROWS);
  useEffect(() => { if (upto >= items.length) onNearEnd?.(); }, [upto, items.length]);
  return (
    <div ref={box} class="list-scroll" style={{ height }} tabIndex={0} role="list" aria-label={label}
      onScroll={(event) => { top.value = event.currentTarget.scrollTop; }}>
      <div style={{ height: `${items.length * rowHeight}px`, position: "relative" }}>
        <div style={{ position: "absolute", top: `${from * rowHeight}px`, left: 0, right: 0 }}>
          {items.slice(from, upto).map((item, index) => <div role="listitem" aria-setsize={items.length} aria-posinset={from + index + 1}>{row(item, from + index)}</div>)}
        </div>
      </div>
    </div>
  );
}
