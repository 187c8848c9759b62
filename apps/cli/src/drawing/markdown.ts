import { lexer, type Token, type Tokens } from 'marked';
import { type Html, html, nothing, preformatted } from './html.ts';

/**
 * Draws Markdown; a text without any is preformatted. Markup in it stays text; links and pictures are text with their address:
 * nothing runs, loads or leads away from the page.
 */
export function markdown(text: string): Html {
  const tokens = read(text);
  if (tokens.every(isPlain)) return preformatted(text);
  return html`<div class="markdown">${tokens.map(block)}</div>`;
}

function read(text: string): readonly Token[] {
  try {
    return lexer(text);
  } catch (thrown) {
    // The reader calls itself for each level of a quote or list.
    if (thrown instanceof RangeError) return [];
    throw thrown;
  }
}

function isPlain(token: Token): boolean {
  return ['space', 'text', 'escape', 'br', 'paragraph'].includes(token.type) && insideOf(token).every(isPlain);
}

function insideOf(token: Token): readonly Token[] {
  return 'tokens' in token ? (token.tokens ?? []) : [];
}

function block(token: Token): Html {
  if (isList(token)) return listOf(token);
  if (isTable(token)) return tableOf(token);
  const inside = insideOf(token);
  switch (token.type) {
    case 'space':
    case 'def':
      return nothing;
    case 'heading':
      return html`<p><strong>${inside.map(inline)}</strong></p>`;
    case 'paragraph':
      return html`<p>${inside.map(inline)}</p>`;
    case 'text':
      return inline(token);
    case 'blockquote':
      return html`<blockquote>${inside.map(block)}</blockquote>`;
    case 'code':
      return preformatted(token['text']);
    default:
      return preformatted(token.raw);
  }
}

const isList = (token: Token): token is Tokens.List => token.type === 'list';
const isTable = (token: Token): token is Tokens.Table => token.type === 'table';

function listOf({ ordered, items }: Tokens.List): Html {
  const rows = items.map(({ tokens }) => html`<li>${tokens.map(block)}</li>`);
  return ordered ? html`<ol>${rows}</ol>` : html`<ul>${rows}</ul>`;
}

function tableOf({ header, rows }: Tokens.Table): Html {
  const head = header.map(({ tokens }) => html`<th>${tokens.map(inline)}</th>`);
  const body = rows.map((row) => html`<tr>${row.map(({ tokens }) => html`<td>${tokens.map(inline)}</td>`)}</tr>`);
  return html`<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`;
}

function inline(token: Token): Html {
  const inside = insideOf(token);
  switch (token.type) {
    case 'br':
      return html`<br>`;
    case 'strong':
      return html`<strong>${inside.map(inline)}</strong>`;
    case 'em':
      return html`<em>${inside.map(inline)}</em>`;
    case 'codespan':
      return html`<code>${token['text']}</code>`;
    case 'text':
    case 'escape':
      return inside.length > 0 ? html`${inside.map(inline)}` : html`${token['text']}`;
    default:
      return html`${token.raw}`;
  }
}
