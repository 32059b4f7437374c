// Charts: columns over days, and lines over model calls. Drawn as SVG, so they take the colors of the
// theme, need no library, and say their numbers to screen readers.
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";

export interface Series {
  readonly label: string;
  /** The name of a color variable of the style sheet. */
  readonly color: string;
  readonly values: readonly (number | null)[];
}

const HEIGHT = 168;
const LEFT = 58;
const RIGHT = 8;
const TOP = 8;
const BOTTOM = 22;
const MAX_LABELS = 8;

/** A round number at or above `value`, so that the axis has readable steps. */
export function niceMaximum(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value * 0.999) ?? 10) * power;
}

/** Draws `series` over `labels`: stacked columns, or lines. */
export function Chart({ labels, series, format, kind, label, marks = [], least = 0 }: {
  labels: readonly string[];
  series: readonly Series[];
  format: (value: number) => string;
  kind: "columns" | "lines";
  label: string;
  /** Places that are marked, with what they are. */
  marks?: readonly { readonly at: number; readonly text: string }[];
  /** The least that the axis reaches. */
  least?: number;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useSignal(480);
  const chosen = useSignal<number | null>(null);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const observer = new ResizeObserver(() => { width.value = Math.max(200, element.clientWidth); });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  const count = labels.length;
  const total = (at: number): number => series.reduce((sum, one) => sum + (one.values[at] ?? 0), 0);
  const highest = niceMaximum(Math.max(least, ...labels.map((_, at) => (kind === "columns" ? total(at) : Math.max(...series.map((one) => one.values[at] ?? 0))))));
  const inner = width.value - LEFT - RIGHT;
  const step = inner / Math.max(1, kind === "columns" ? count : count - 1);
  const x = (at: number): number => LEFT + (kind === "columns" ? step * (at + 0.5) : count > 1 ? step * at : inner / 2);
  const y = (value: number): number => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / highest);
  const every = Math.max(1, Math.ceil(count / Math.min(MAX_LABELS, Math.max(1, Math.floor(inner / 64)))));
  const point = (event: PointerEvent): void => {
    const place = (event.currentTarget as SVGElement).getBoundingClientRect();
    const at = Math.round((event.clientX - place.left - LEFT) / step - (kind === "columns" ? 0.5 : 0));
    chosen.value = at >= 0 && at < count ? at : null;
  };
  const shown = chosen.value;
  const summary = labels.map((name, at) => `${name}: ${series.map((one) => `${series.length > 1 ? `${one.label} ` : ""}${one.values[at] === null ? "none" : format(one.values[at] ?? 0)}`).join(", ")}`).join("; ");
  return (
    <figure class="chart">
      <div ref={box} class="chart-box">
        <svg width={width.value} height={HEIGHT} role="img" aria-label={`${label}. ${summary}`} onPointerMove={point} onPointerLeave={() => { chosen.value = null; }}>
          {[0, 0.5, 1].map((share) => (
            <g><line class="rule" x1={LEFT} x2={width.value - RIGHT} y1={y(highest * share)} y2={y(highest * share)} /><text x={LEFT - 8} y={y(highest * share) + 4} text-anchor="end">{format(highest * share)}</text></g>
          ))}
          {marks.map((mark) => <line class="mark" x1={x(mark.at)} x2={x(mark.at)} y1={TOP} y2={HEIGHT - BOTTOM}><title>{mark.text}</title></line>)}
          {kind === "columns" ? labels.map((_, at) => {
            let below = 0;
            return series.map((one) => {
              const value = one.values[at] ?? 0;
              const top = y(below + value);
              const height = y(below) - top;
              below += value;
              return value > 0 ? <rect x={x(at) - Math.min(18, step * 0.36)} width={Math.min(36, step * 0.72)} y={top} height={Math.max(1, height)} rx={2} style={{ fill: `var(${one.color})`, opacity: shown === null || shown === at ? 1 : 0.45 }} /> : null;
            });
          }) : series.map((one) => (
            <g style={{ color: `var(${one.color})` }}>
              <path class="area" d={`M${x(0)},${y(0)}${one.values.map((value, at) => `L${x(at)},${y(value ?? 0)}`).join("")}L${x(count - 1)},${y(0)}Z`} />
              <path class="stroke" d={one.values.map((value, at) => `${at ? "L" : "M"}${x(at)},${y(value ?? 0)}`).join("")} />
              {one.values.map((value, at) => (count < 60 || shown === at ? <circle cx={x(at)} cy={y(value ?? 0)} r={shown === at ? 4 : 2.5} /> : null))}
            </g>
          ))}
          {labels.map((name, at) => (at % every === 0 ? <text x={x(at)} y={HEIGHT - 6} text-anchor={kind === "lines" && at === 0 ? "start" : "middle"}>{name}</text> : null))}
        </svg>
        {shown === null ? null : (
          <div class="chart-note" style={x(shown) > width.value / 2 ? { right: `${width.value - x(shown) + 12}px` } : { left: `${x(shown) + 12}px` }}>
            <strong>{labels[shown]}</strong>
            {series.map((one) => <span><i style={{ background: `var(${one.color})` }} />{one.label} {one.values[shown] === null ? "–" : format(one.values[shown] ?? 0)}</span>)}
            {marks.filter((mark) => mark.at === shown).map((mark) => <span>{mark.text}</span>)}
          </div>
        )}
      </div>
      {series.length > 1 ? <figcaption class="legend">{series.map((one) => <span><i style={{ background: `var(${one.color})` }} />{one.label}</span>)}</figcaption> : null}
    </figure>
  );
}
