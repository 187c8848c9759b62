/** An element of a page, with its children in order. */
export interface TestElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly (TestElement | string)[];
}

const doctype = '<!DOCTYPE html>\n';
const empty: ReadonlySet<string> = new Set(['meta', 'br']);
const token =
  /<(?<end>\/?)(?<name>[a-z][a-z0-9]*)(?<attributes>(?: [a-zA-Z][a-zA-Z0-9-]*="[^"<>]*")*)(?<closed>\/?)>|(?<text>[^<>]+)/gy;
const attribute = /(?<key>[a-zA-Z][a-zA-Z0-9-]*)="(?<value>[^"]*)"/g;

/**
 * Parses a page written in a strict subset of HTML: every element closed, every attribute in double quotes, no comments, no
 * character references except `&#NN;`, no markup in the style sheet. Browsers parse such a page the same way. Throws on anything else.
 */
export function readPage(page: string): TestElement {
  if (!page.startsWith(doctype)) throw new Error('The page has no doctype.');
  const root: { readonly name: string; readonly children: (TestElement | string)[] } = { name: '', children: [] };
  const open: { readonly name: string; readonly children: (TestElement | string)[] }[] = [root];
  let at = doctype.length;
  while (at < page.length) {
    token.lastIndex = at;
    const found = token.exec(page)?.groups;
    if (found === undefined) throw new Error(`Unexpected markup: ${page.slice(at, at + 80)}`);
    at = token.lastIndex;
    const inside = open.at(-1);
    if (inside === undefined) throw new Error('Text after the end of the page.');
    const { end, name = '', attributes = '', closed, text } = found;
    if (text !== undefined) inside.children.push(toCharacters(text));
    else if (end === '/') {
      if (inside.name !== name) throw new Error(`\`${inside.name}\` is closed as \`${name}\`.`);
      open.pop();
    } else {
      const children: (TestElement | string)[] = [];
      inside.children.push({ name, attributes: readAttributes(attributes), children });
      if (closed !== '/' && !empty.has(name)) open.push({ name, children });
    }
  }
  if (open.length !== 1) throw new Error(`\`${open.at(-1)?.name}\` is not closed.`);
  const [html] = root.children;
  if (html === undefined || typeof html === 'string') throw new Error('The page has no element.');
  return html;
}

function readAttributes(text: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  for (const { groups } of text.matchAll(attribute)) {
    const key = groups?.['key'] ?? '';
    if (attributes.has(key)) throw new Error(`\`${key}\` appears twice.`);
    attributes.set(key, toCharacters(groups?.['value'] ?? ''));
  }
  return attributes;
}

function toCharacters(text: string): string {
  if (/&(?!#\d+;)/.test(text)) throw new Error(`Unexpected ampersand: ${text.slice(0, 80)}`);
  return text.replace(/&#(\d+);/g, (_reference, code: string) => String.fromCodePoint(Number(code)));
}

/** The element and all its descendants, in document order. */
export function listElements(element: TestElement): readonly TestElement[] {
  return [element, ...element.children.flatMap((child) => (typeof child === 'string' ? [] : listElements(child)))];
}

/** All text in an element. */
export function textOf({ children }: TestElement): string {
  return children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}

/** Elements and attributes without any text. */
export function skeletonOf(element: TestElement): string {
  const attributes = [...element.attributes].map(([key, value]) => ` ${key}=${value}`).join('');
  const inner = element.children.map((child) => (typeof child === 'string' ? '' : skeletonOf(child))).join('');
  return `<${element.name}${attributes}>${inner}</>`;
}
