/** The kinds of values that decide where something goes. `any`: by its look. */
export const kinds = ['address', 'host', 'url', 'path', 'phone', 'account', 'amount', 'id', 'text', 'any'] as const;
export type Kind = (typeof kinds)[number];

/** Longer texts are prose. */
const maxValueChars = 500;

/**
 * The one spelling of a value, behind its kind: `account:GB29NWBK60161331926819`. Values with one form reach the same place; look-alike
 * letters do not. `undefined`: no value of this kind.
 */
export function toForm(kind: Kind, value: string | number): string | undefined {
  const text = String(value).trim();
  if (text === '' || text.length > maxValueChars) return undefined;
  const actual = kind === 'any' ? guessKind(text) : kind;
  const form = normalize(actual, text);
  return form === undefined ? undefined : `${actual}:${form}`;
}

/** Every form that a value may be compared in. */
export function formsOf(value: string | number): readonly string[] {
  const text = String(value).trim();
  if (text === '' || text.length > maxValueChars) return [];
  const likely = kindsLike(text).flatMap((kind) => toForm(kind, text) ?? []);
  return [`id:${text}`, `text:${fold(text)}`, ...likely];
}

/** The forms of the values in a text. */
export function findForms(text: string): ReadonlySet<string> {
  const found = new Set<string>();
  for (const [token] of text.matchAll(/[^\s<>()[\]{}"'`,;|]+/gu)) {
    // Most words are only words.
    if (token.length > maxValueChars || !/[\d@/\\_]|\.\p{L}/u.test(token)) continue;
    const bare = token.replace(/[.:!?]+$/u, '');
    for (const kind of kindsLike(bare)) {
      const form = toForm(kind, bare);
      if (form !== undefined) found.add(form);
    }
    if (/[\d_/]/u.test(bare)) found.add(`id:${bare}`);
  }
  for (const form of findNumbers(text)) found.add(form);
  return found;
}

const maxNumbers = 200;

/** Amounts, and accounts and phone numbers that are written in groups. */
function* findNumbers(text: string): Iterable<string> {
  let left = maxNumbers;
  for (const [amount] of text.matchAll(/(?<![\p{L}\p{N}.,])\d[\d.,']{0,30}/gu)) {
    left -= 1;
    if (left < 0) break;
    const form = toForm('amount', amount.replace(/[.,']+$/u, ''));
    if (form !== undefined) yield form;
  }
  left = maxNumbers;
  for (const [run] of text.matchAll(/(?<![\p{L}\p{N}])(?:[+(]?[0-9A-Z]+[ .()/-]{0,2}){2,14}/gu)) {
    const parts = run.split(/[\s.()/-]+/u).filter((part) => part !== '');
    left -= 1;
    if (left < 0) break;
    // Words in capitals may stand before or behind the number.
    for (let first = 0; first < parts.length; first += 1) {
      if (!/\d/u.test(parts[first] ?? '')) continue;
      for (let end = parts.length; end > first; end -= 1) {
        const joined = parts.slice(first, end).join('');
        for (const kind of ['phone', 'account'] as const) {
          const form = joined.length < 7 ? undefined : toForm(kind, joined);
          if (form !== undefined) yield form;
        }
      }
    }
  }
}

/** Lower case, single spaces: for names and words. */
export function fold(text: string): string {
  return text.normalize('NFC').toLowerCase().trim().replaceAll(/\s+/gu, ' ');
}

function guessKind(text: string): Exclude<Kind, 'any'> {
  return kindsLike(text).find((kind) => kind !== 'amount' && kind !== 'path' && kind !== 'host') ?? 'text';
}

function kindsLike(text: string): readonly Exclude<Kind, 'any'>[] {
  if (text.includes('://')) return ['url', 'host', 'path'];
  if (text.includes('@')) return ['address'];
  if (/[/\\]/u.test(text)) return ['path'];
  if (!/\d/u.test(text)) return /^[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+$/u.test(text) ? ['host', 'path'] : [];
  const kinds = ['account', 'phone', 'amount', 'host'] as const;
  const squeezed = text.replaceAll(/[\s.()/-]/gu, '');
  return kinds.filter((kind) => {
    if (kind === 'account') return /^[A-Za-z]{0,4}\d[\dA-Za-z]{5,33}$/u.test(squeezed);
    if (kind === 'phone') return /^\+?\d{6,15}$/u.test(squeezed);
    if (kind === 'amount') return /^[^\d\s]{0,3}[\d.,]+[^\d\s]{0,3}$/u.test(text);
    return text.includes('.');
  });
}

function normalize(kind: Exclude<Kind, 'any'>, text: string): string | undefined {
  switch (kind) {
    case 'address':
      return readAddress(text);
    case 'host':
      return readUrl(text.includes('://') ? text : `http://${text}`)?.host;
    case 'url':
      return readUrl(text)?.href;
    case 'path':
      return readPath(text);
    case 'phone': {
      const digits = text.replaceAll(/[\s.()/-]/gu, '').replace(/^00/u, '+');
      return /^\+?\d{3,15}$/u.test(digits) ? digits : undefined;
    }
    case 'account': {
      const account = text.replaceAll(/[\s.-]/gu, '').toUpperCase();
      return /^[0-9A-Z]{3,34}$/u.test(account) ? account : undefined;
    }
    case 'amount':
      return readAmount(text);
    case 'id':
      return text;
    case 'text':
      return fold(text);
    default:
      return kind satisfies never;
  }
}

function readAddress(text: string): string | undefined {
  const inner = /<([^<>]*)>$/u.exec(text)?.[1] ?? text;
  const address = inner
    .trim()
    .replace(/^mailto:/iu, '')
    .toLowerCase()
    .replace(/\.$/u, '');
  return /^[^\s@<>,;:"()[\]\\]+@[^\s@<>,;:"()[\]\\]+$/u.test(address) ? address : undefined;
}

/** `undefined` also with a user name, behind which a host can hide. */
function readUrl(text: string): { readonly host: string; readonly href: string } | undefined {
  try {
    const url = new URL(text);
    if (url.host === '' || url.username !== '' || url.password !== '') return undefined;
    const host = url.hostname.replace(/\.$/u, '') + (url.port === '' ? '' : `:${url.port}`);
    return { host, href: `${url.protocol}//${host}${url.pathname}${url.search}` };
  } catch {
    // Not a URL, so nobody can tell where it leads.
    return undefined;
  }
}

function readPath(text: string): string {
  const names: string[] = [];
  for (const name of text.replaceAll('\\', '/').split('/')) {
    if (name === '' || name === '.') continue;
    if (name === '..' && names.length > 0 && names.at(-1) !== '..') names.pop();
    else names.push(name);
  }
  return `${/^[/\\]/u.test(text) ? '/' : ''}${names.join('/')}`;
}

function readAmount(text: string): string | undefined {
  const digits = text.replaceAll(/^[^\d.,-]{1,4}|[^\d]{1,4}$/gu, '');
  // The last separator followed by one or two digits is the decimal one.
  const [, sign = '', whole = '', fraction = ''] = /^(-?)([\d.,' ]*?)(?:[.,](\d{1,2}))?$/u.exec(digits) ?? [];
  const plain = whole.replaceAll(/[.,' ]/gu, '').replace(/^0+(?=\d)/u, '');
  if (!/^\d{1,30}$/u.test(plain)) return readPlain(digits);
  const rest = fraction.replace(/0+$/u, '');
  return `${sign}${plain}${rest === '' ? '' : `.${rest}`}`;
}

/** A decimal number as programs write it. */
function readPlain(text: string): string | undefined {
  return /^-?\d*\.\d+$/u.test(text) ? text.replace(/0+$/u, '') : undefined;
}
