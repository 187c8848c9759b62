import { type Json, toPrintable, toPrintableBlock } from '@holdfast/core';
import { cut, formatCount, toBlock } from '@holdfast/orchestrator/text';

/** Text that is HTML already. Only this file makes it of what it is given. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type HtmlPart = string | number | Html | readonly Html[];

/**
 * HTML in which every text that is put in stays text, between elements and in quoted attributes: markup is escaped, and what cannot be
 * seen is shown. Only what this made itself is put in as it is.
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

/** Characters of one value, as JSON of several lines, that the page shows. */
const maxValue = 10_000;

/** A value as a block of several lines; of a long one the beginning, and how much more there is. */
export function valueBlock(value: Json): Html {
  const { text, leftOut } = cut(toBlock(value), maxValue);
  const shown = new Html(escapeMarkup(toPrintableBlock(text)));
  const more =
    leftOut === 0 ? nothing : html`<p class="cut">${formatCount(leftOut, 'more character')} left out of this page.</p>`;
  return html`<pre>${shown}</pre>${more}`;
}

function escapeMarkup(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
