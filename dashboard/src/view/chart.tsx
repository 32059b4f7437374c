// Charts over time.
import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { theme } from "../state/preferences";

export interface Line {
  readonly label: string;
  /** The name of a color variable of the style sheet. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly format: (value: number) => string;
}

const DAY = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** Half the distance of two bars, so that the first and last are whole. */
function barRoom(at: readonly number[]): number {
  const [first, last] = [at[0] ?? 0, at.at(-1) ?? 0];
  return at.length > 1 ? (last - first) / (at.length - 1) / 2 : 43_200_000;
}

function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** Draws lines or bars over moments, given in milliseconds. */
export function TimeChart({ at, lines, bars = false, height = 180, label }: {
  at: readonly number[]; lines: readonly Line[]; bars?: boolean; height?: number; label: string;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const chosenTheme = theme.value;
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const axis = { stroke: color("--muted"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false } };
    const bar = uPlot.paths.bars?.({ size: [0.7, 48] });
    const options: uPlot.Options = {
      width: element.clientWidth || 400,
      height,
      ms: 1,
      legend: { live: true },
      cursor: { points: { size: 6 } },
      scales: { x: bars ? { range: (_, min, max) => [min - barRoom(at), max + barRoom(at)] } : {}, y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
      axes: [{ ...axis, values: (_, ticks) => ticks.map((tick) => (bars ? DAY : CLOCK).format(tick)) }, { ...axis, size: 64, values: (_, ticks) => ticks.map((tick) => lines[0]?.format(tick) ?? String(tick)) }],
      series: [{ value: (_: uPlot, at: number | null) => (at === null ? "–" : (bars ? DAY : CLOCK).format(at)) }, ...lines.map((line) => ({
        label: line.label,
        stroke: color(line.color),
        width: 2,
        points: { show: !bars && at.length < 40 },
        ...(bars ? { fill: color(line.color), ...(bar ? { paths: bar } : {}) } : { fill: `color-mix(in srgb, ${color(line.color)} 12%, transparent)` }),
        value: (_: uPlot, value: number | null) => (value === null ? "–" : line.format(value)),
      }))],
    };
    const data = [[...at], ...lines.map((line) => [...line.values])] as uPlot.AlignedData;
    const chart = new uPlot(options, data, element);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => { observer.disconnect(); chart.destroy(); };
  }, [at, lines, bars, height, chosenTheme]);
  return <figure class="chart" ref={box} role="img" aria-label={label} />;
}
