import type { Json } from '@holdfast/core';
import { toPrintable, toPrintableBlock } from '@holdfast/core/internal';
import { cut, formatCount, toBlock } from '@holdfast/orchestrator/text';

/** Text that is already HTML. Only this file creates it from other text. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlPart = string | number | Html | readonly Html[];

/**
 * A template tag whose inserted texts stay text, both between elements and in quoted attributes: markup is escaped and invisible
 * characters are shown. Only `Html` is inserted unchanged.
 */
export function html(literals: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  const pieces = literals.flatMap((literal, index) => {
    const part = parts[index];
    return part === undefined ? [literal] : [literal, toText(part)];
  });
  return new Html(pieces.join(''));
}

function toText(part: HtmlPart): string {
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string') return escapeMarkup(toPrintable(part));
  if (part instanceof Html) return part.text;
  return part.map(({ text }) => text).join('');
}

export const nothing: Html = new Html('');

/** Characters of one value shown on the page, as multi-line JSON. */
const maxValue = 10_000;

/** A value as a multi-line block, cut with a note if it is long. */
export function valueBlock(value: Json): Html {
  return cutBlock(toBlock(value), preformatted);
}

/** `text` as drawn by `draw`, cut with a note if it is long. */
export function cutBlock(long: string, draw: (text: string) => Html): Html {
  const { text, leftOut } = cut(long, maxValue);
  const more = leftOut === 0 ? nothing : html`<p class="cut">${formatCount(leftOut, 'more character')} not shown.</p>`;
  return html`${draw(text)}${more}`;
}

/** Text with its lines and spaces. */
export function preformatted(text: string): Html {
  return html`<pre>${new Html(escapeMarkup(toPrintableBlock(text)))}</pre>`;
}

function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
