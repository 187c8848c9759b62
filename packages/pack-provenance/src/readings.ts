/**
 * The text, and what it says once decoded: URL, HTML and quoted-printable escapes, base64, look-alike letters, spelled-out and split
 * addresses. Only to name the source of a value; what is trusted is never decoded.
 */
export function readingsOf(text: string): readonly string[] {
  const readings = new Set([text]);
  for (const decode of decoders) {
    const decoded = decode(text);
    if (decoded !== undefined && decoded !== text) readings.add(decoded);
  }
  return [...readings];
}

const maxBlobs = 20;

const decoders: readonly ((text: string) => string | undefined)[] = [
  (text) => (/%[0-9a-f]{2}/iu.test(text) ? decodeBytes(text, /(?:%[0-9a-f]{2})+/giu, '%') : undefined),
  (text) =>
    /=[0-9a-f]{2}/iu.test(text) ? decodeBytes(text.replaceAll(/=\r?\n/gu, ''), /(?:=[0-9a-f]{2})+/giu, '=') : undefined,
  (text) =>
    text.includes('&') ? text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,8}));/giu, readEntity) : undefined,
  decodeBase64,
  (text) => (/[^\p{ASCII}]/u.test(text) ? toLatin(text) : undefined),
  (text) =>
    text
      .replaceAll(/\s?[([{]\s?at\s?[)\]}]\s?| at (?=[\w-]{1,60}\s?(?:\.|[([{]?\s?dot))/giu, '@')
      .replaceAll(/\s?[([{]\s?dot\s?[)\]}]\s?| dot /giu, '.'),
  (text) => text.replaceAll(/["'`]\s?\+\s?["'`]|\s([@.])\s?(?=[\w-])|(@)\s(?=[\w-])/gu, '$1$2'),
];

function decodeBytes(text: string, escapes: RegExp, sign: string): string {
  return text.replaceAll(escapes, (run) => {
    const bytes = run
      .split(sign)
      .slice(1)
      .map((pair) => Number.parseInt(pair, 16));
    return new TextDecoder().decode(Uint8Array.from(bytes));
  });
}

const entities: ReadonlyMap<string, string> = new Map([
  ['commat', '@'],
  ['period', '.'],
  ['amp', '&'],
  ['colon', ':'],
  ['sol', '/'],
  ['num', '#'],
]);

function readEntity(whole: string, decimal?: string, hexadecimal?: string, name?: string): string {
  if (name !== undefined) return entities.get(name.toLowerCase()) ?? whole;
  const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
  return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}

function decodeBase64(text: string): string | undefined {
  const found: string[] = [];
  for (const [blob] of text.matchAll(/(?<![\w+/-])[\w+/-]{12,4000}={0,2}/gu)) {
    if (found.length === maxBlobs) break;
    if (!/[a-z]/u.test(blob) || !/[A-Z]/u.test(blob)) continue;
    try {
      const bytes = atob(blob.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/u, ''));
      const decoded = new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes, (c) => c.charCodeAt(0)));
      if (/^[\x20-\x7e\s]+$/u.test(decoded)) found.push(decoded);
    } catch {
      // A word, not base64.
    }
  }
  return found.length === 0 ? undefined : found.join('\n');
}

/** Letters of other alphabets as the Latin ones that they look like; compatibility forms and invisible characters are resolved. */
function toLatin(text: string): string {
  return text
    .normalize('NFKC')
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replaceAll(/[а-яіјѕԁα-ω]/giu, (letter) => lookAlikes.get(letter.toLowerCase()) ?? letter);
}

const lookAlikes: ReadonlyMap<string, string> = new Map(
  [...'аaеeоoрpсcхxуyіiјjѕsԁdвbкkмmнhтtαaοoρpνvιiκkτt'.matchAll(/(.)(.)/gu)].map(([, letter = '', latin = '']) => [
    letter,
    latin,
  ]),
);
