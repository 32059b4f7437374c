// Markdown of models, as elements and never as HTML: what is not known is shown as text. Images are
// not loaded, and a link shows where it leads.
import type { ComponentChild, JSX } from "preact";

const SAFE_LINK = /^(https?:|mailto:)/i;

type Inline = { readonly pattern: RegExp; readonly make: (match: RegExpExecArray) => ComponentChild };

const INLINE: readonly Inline[] = [
  { pattern: /^`+([^`]|[^`].*?[^`])`+(?!`)/s, make: (match) => <code>{match[1]}</code> },
  { pattern: /^\*\*(?=\S)(.+?)(?<=\S)\*\*/s, make: (match) => <strong>{inline(match[1] ?? "")}</strong> },
  { pattern: /^__(?=\S)(.+?)(?<=\S)__(?!\w)/s, make: (match) => <strong>{inline(match[1] ?? "")}</strong> },
  { pattern: /^\*(?=\S)([^*]+?)(?<=\S)\*(?!\*)/s, make: (match) => <em>{inline(match[1] ?? "")}</em> },
  { pattern: /^~~(?=\S)(.+?)(?<=\S)~~/s, make: (match) => <del>{inline(match[1] ?? "")}</del> },
  { pattern: /^!\[([^\]]*)\]\(([^)\s]+)[^)]*\)/, make: (match) => <span class="image">[image: {match[1] || "without a name"}] {match[2]}</span> },
  { pattern: /^\[([^\]]+)\]\(([^)\s]+)[^)]*\)/, make: (match) => anchor(match[1] ?? "", match[2] ?? "") },
  { pattern: /^https?:\/\/[^\s<>"')\]]+/, make: (match) => anchor(match[0], match[0]) },
];

function anchor(text: string, target: string): JSX.Element {
  if (!SAFE_LINK.test(target)) return <span>{text} ({target})</span>;
  const shown = text === target ? text : `${text} (${target})`;
  return <a href={target} target="_blank" rel="noreferrer noopener">{shown}</a>;
}

/** Spans within a line or paragraph. */
export function inline(text: string): ComponentChild[] {
  const parts: ComponentChild[] = [];
  let plain = "";
  let rest = text;
  while (rest) {
    const found = first(rest);
    if (!found) {
      const length = /^[\w\s]+/.exec(rest)?.[0].length ?? 1;
      // An address may begin after a word: stop before it.
      const stop = rest.slice(0, length).search(/(?<=\s)https?$/);
      const taken = stop > 0 ? stop : length;
      plain += rest.slice(0, taken);
      rest = rest.slice(taken);
      continue;
    }
    if (plain) parts.push(plain);
    plain = "";
    parts.push(found.made);
    rest = rest.slice(found.length);
  }
  if (plain) parts.push(plain);
  return parts;
}

function first(text: string): { made: ComponentChild; length: number } | null {
  if (/^[a-gi-zA-Z0-9\s]/.test(text)) return null;
  for (const { pattern, make } of INLINE) {
    const match = pattern.exec(text);
    if (match) return { made: make(match), length: match[0].length };
  }
  return null;
}

/** A sentence of ours: code between backticks, and nothing else, because it quotes what others wrote. */
export function codeSpans(text: string): ComponentChild[] {
  return text.split("`").map((part, at) => (at % 2 === 1 ? <code>{part}</code> : part));
}

/** A text of Markdown. */
export function Markdown({ text }: { text: string }): JSX.Element {
  return <div class="markdown">{blocks(text.split(/\r?\n/))}</div>;
}

function blocks(lines: string[]): ComponentChild[] {
  const out: ComponentChild[] = [];
  let at = 0;
  const take = (accept: (line: string) => boolean): string[] => {
    const from = at;
    while (at < lines.length && accept(lines[at] ?? "")) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? "";
    const fence = /^\s*(`{3,}|~{3,})\s*(\S*)/.exec(line);
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    if (!line.trim()) {
      at += 1;
    } else if (fence) {
      at += 1;
      const marker = fence[1] ?? "```";
      const code = take((next) => !next.trim().startsWith(marker));
      at += 1;
      out.push(<pre class="code" data-language={fence[2] || undefined}><code>{code.join("\n")}</code></pre>);
    } else if (heading) {
      at += 1;
      out.push(<p class={`heading heading-${heading[1]?.length ?? 1}`} role="heading" aria-level={Math.min(6, (heading[1]?.length ?? 1) + 2)}>{inline(heading[2] ?? "")}</p>);
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      at += 1;
      out.push(<hr />);
    } else if (/^\s*>/.test(line)) {
      out.push(<blockquote>{blocks(take((next) => /^\s*>/.test(next)).map((next) => next.replace(/^\s*> ?/, "")))}</blockquote>);
    } else if (isTable(lines, at)) {
      out.push(table(take((next) => next.includes("|"))));
    } else if (/^\s*([-*+]|\d+[.)])\s+/.test(line)) {
      const ordered = /^\s*\d/.test(line);
      const items = list(take((next) => /^\s*([-*+]|\d+[.)])\s+/.test(next) || /^\s{2,}\S/.test(next)));
      out.push(ordered ? <ol>{items}</ol> : <ul>{items}</ul>);
    } else {
      const text = take((next) => Boolean(next.trim()) && !/^(\s*(`{3,}|~{3,}|>)|#{1,6}\s|\s*[-*+]\s)/.test(next));
      if (text.length === 0) text.push(lines[at++] ?? "");
      out.push(<p>{inline(text.join("\n"))}</p>);
    }
  }
  return out;
}

function list(lines: string[]): JSX.Element[] {
  const indent = /^\s*/.exec(lines[0] ?? "")?.[0].length ?? 0;
  const items: string[][] = [];
  for (const line of lines) {
    const own = (/^\s*/.exec(line)?.[0].length ?? 0) <= indent + 1;
    if (own && /^\s*([-*+]|\d+[.)])\s+/.test(line)) items.push([line.replace(/^\s*([-*+]|\d+[.)])\s+/, "")]);
    else items.at(-1)?.push(line.slice(indent + 2));
  }
  return items.map(([head = "", ...rest]) => <li>{checkbox(head)}{rest.length > 0 ? blocks(rest) : null}</li>);
}

function checkbox(text: string): ComponentChild[] {
  const task = /^\[([ xX])\]\s+(.*)$/.exec(text);
  return task ? [task[1] === " " ? "☐ " : "☑ ", ...inline(task[2] ?? "")] : inline(text);
}

function isTable(lines: string[], at: number): boolean {
  return (lines[at] ?? "").includes("|") && /^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/.test(lines[at + 1] ?? "");
}

function cells(line: string): string[] {
  return line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function table([head = "", , ...rows]: string[]): JSX.Element {
  return (
    <div class="scroll-x">
      <table>
        <thead><tr>{cells(head).map((cell) => <th>{inline(cell)}</th>)}</tr></thead>
        <tbody>{rows.map((row) => <tr>{cells(row).map((cell) => <td>{inline(cell)}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}
