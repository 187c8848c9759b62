import { unicodePattern } from './unicode.ts';

/** Maximum length of a reason for a model. */
const maxLength = 1_000;
/** Only this much of a longer text is examined. */
const maxRead = 16_000;

/**
 * Cleans a reason for a model: no host path, no stack, no invisible characters, well-formed, at most 1,000 characters.
 *
 * A host path is any absolute path: two names or more below `/`, a known root (`/root`), a drive, a network share, `~/`, `file:`. In quotes
 * it ends at the quote, elsewhere at a space. Kept: relative paths, URLs with a host, a single name below `/`, which means the workspace in
 * the file tools (`/notes.txt`), and API routes (`/v1/orders`).
 */
export function forModel(message: string): string {
  const text = message.slice(0, maxRead).toWellFormed().replace(stackLines, '');
  const visible = withoutPaths(text).replace(invisible(), '');
  // Removing invisible characters can join others to a path.
  const clean = withoutPaths(visible);
  if (clean.length <= maxLength && message.length <= maxRead) return clean;
  return `${clean.slice(0, maxLength - 1).replace(halfPair, '')}…`;
}

// Stack frames of V8, Java and Firefox, and of Python with its line of code.
const stackLines = new RegExp(
  [
    String.raw`(?:^|\n)[ \t]*at (?:[^\n]*(?:\((?:[^()\n]*:\d+|native|<anonymous>|index \d+)\)|<anonymous>)|(?=[^\n]*[/\\.])[^\n]*:\d+:\d+)\s*?(?=\n|$)`,
    String.raw`(?:^|\n)[^\s@]*@\S+:\d+:\d+\s*?(?=\n|$)`,
    String.raw`(?:^|\n)[ \t]*File "[^"\n]*", line \d+, in [^\n]*(?:\n[ \t]{4,}[^\n]*)?`,
  ].join('|'),
  'g',
);

// A character of a path's name: no space, no closing quote or bracket.
const inName = String.raw`[^/\s\p{Cc}'"\x60,;<>)\]}]`;
const roots =
  'home|Users|root|tmp|var|usr|opt|etc|private|mnt|media|srv|proc|sys|nix|Volumes|Applications|Library|System|work|workspace';
const letter = String.raw`\p{L}\p{N}_`;
const begins = [
  'file:/',
  // Two names, or one known root.
  String.raw`\\?/+(?:[${letter}.@$~-]${inName}*/|(?:${roots})(?![${letter}-]|\.[${letter}]))`,
  // Names before a backslash may contain spaces.
  String.raw`[a-z]:[/\\](?:[^\\/:*?"'<>|\n\x60]+\\)*`,
  String.raw`\\{2,}(?:[?.]|[${letter}.$-]{2,})[/\\]`,
  `~[${letter}.-]*/`,
].join('|');
// The start of a path that is not the rest of a relative one. The last three: an escaped line break, an option's letter
// (`-I/usr/include`), a terminal color code.
const atStart = String.raw`(?:(?<![${letter}.*#@~/\\)\]}-])|(?<=\\[nrt])|(?<=(?:^|\s)-[a-z])|(?<=\x1b\[[\d;]{0,12}[a-z]))`;
const hostPath = unicodePattern(
  [
    // A URL up to its query is kept.
    String.raw`(?<=[${letter}]):\/\/(?!\/|file\/)[^\s'"\x60<>?#]*`,
    String.raw`(?<=(['"\x60]))(?:${begins})(?:(?!\1(?![${letter}]))[^\n])*(?=\1)`,
    // The final period belongs to the sentence.
    String.raw`${atStart}(?:${begins})(?:\\ |\[[^\s\[\]]*\]|\([^\s()]*\)|/|${inName})*(?<![.:!?])`,
  ].join('|'),
  'giu',
);

function withoutPaths(text: string): string {
  // Fast path: most reasons contain neither, and the expressions are slow.
  if (!text.includes('/') && !text.includes('\\')) return text;
  return text.replace(hostPath(), (found: string, _quote: unknown, at: number) =>
    found.startsWith('://') || isRoute(found, text.slice(Math.max(0, at - 10), at)) ? found : '<path>',
  );
}

/** True if an apparent path is an API route: by its first name, or the method before it. File names have a dot. */
function isRoute(found: string, before: string): boolean {
  return plainNames.test(found) && (routeStart.test(found) || (method.test(before) && !knownRoot.test(found)));
}

const plainNames = /^(?:\/[\w{}:@%?&=,;-]+)+\/?$/;
const routeStart = /^\/(?:v\d+|api)\//;
const method = /(?:^|[^\w])(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) ['"`]?$/;
const knownRoot = new RegExp(`^/(?:${roots})(?:/|$)`, 'i');

// Escape sequences, direction overrides, zero-width characters, fillers and selectors, except line breaks and tabs.
const invisible = unicodePattern(
  String.raw`(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`,
  'gu',
);
const halfPair = /[\ud800-\udbff]$/;
