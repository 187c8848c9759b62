import { findForms, fold } from './forms.ts';

/** The user's words, read once. */
export interface RequestWords {
  /** True if the words contain the value. */
  has(form: string): boolean;
  /** True if a word is among `words`; `pay*` stands for all that begin with it. */
  callsFor(words: readonly string[]): boolean;
}

const maxChars = 50_000;

/** Reads the request of a context. A host without one has no words. */
export function readRequest(request: string | undefined): RequestWords {
  if (request !== last.request) last = { request, words: read(ownWords(request ?? '').slice(0, maxChars)) };
  return last.words;
}

function read(text: string): RequestWords {
  const forms = findForms(text);
  const folded = fold(text);
  const words = new Set(folded.match(/[\p{L}\p{N}]+/gu));
  const urls = [...forms].filter((form) => form.startsWith('url:'));
  return {
    has(form) {
      if (forms.has(form)) return true;
      const value = form.slice(form.indexOf(':') + 1);
      if (form.startsWith('text:')) return includesWhole(folded, value);
      if (form.startsWith('id:') || form.startsWith('path:')) return includesWhole(text, value);
      // A page below an address that the user wrote.
      return form.startsWith('url:') && urls.some((url) => form.startsWith(url.endsWith('/') ? url : `${url}/`));
    },
    callsFor: (wanted) =>
      wanted.some((word) => {
        const stem = word.toLowerCase();
        return stem.endsWith('*')
          ? [...words].some((one) => one.startsWith(stem.slice(0, -1)))
          : words.has(stem) || (stem.includes(' ') && includesWhole(folded, stem));
      }),
  };
}

// One run asks about one request.
let last: { readonly request: string | undefined; readonly words: RequestWords } = {
  request: undefined,
  words: read(''),
};

/** True if `part` stands in `text` and is not a part of a longer word, number or address. */
function includesWhole(text: string, part: string): boolean {
  if (part === '') return false;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    const before = text.slice(Math.max(0, at - 2), at);
    const after = text.slice(at + part.length, at + part.length + 2);
    if (
      !/(?:[\p{L}\p{N}_@+-]|[\p{L}\p{N}][.,/:])$/u.test(before) &&
      !/^(?:[\p{L}\p{N}_@+-]|[.,/:][\p{L}\p{N}])/u.test(after)
    )
      return true;
  }
  return false;
}

/**
 * The request without what the user only passed on: quoted lines, forwarded mails, code blocks, tagged attachments and the files that an
 * agent appends.
 */
export function ownWords(request: string): string {
  const lines = request
    .replaceAll(/<([A-Za-z][\w-]*)(?:\s[^<>]{0,200})?>[\s\S]*?(?:<\/\1\s*>|$)/gu, '\n')
    .split(/\r?\n/u);
  const kept: string[] = [];
  let fence: string | undefined;
  for (const [index, line] of lines.entries()) {
    const mark = /^\s*(```+|~~~+)/u.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined;
      continue;
    }
    if (mark !== undefined) fence = mark;
    else if (startsAttachment(lines, index)) break;
    else if (!/^\s*>/u.test(line)) kept.push(line);
  }
  return kept.join('\n');
}

/** True if the text of another author begins here. */
function startsAttachment(lines: readonly string[], index: number): boolean {
  const line = lines[index] ?? '';
  if (/^\s*(?:-{2,}|_{5,}|={3,}|begin)\s*(?:original|forwarded|content from|pasted|attached|file)\b/iu.test(line))
    return true;
  if (/^\s*on .{5,200} wrote:\s*$/iu.test(line)) return true;
  if (!/^\s*\**(?:from|von|de)\**\s?:/iu.test(line)) return false;
  return lines.slice(index + 1, index + 6).some((next) => /^\s*\**(?:subject|to|sent|date|cc)\**\s?:/iu.test(next));
}
