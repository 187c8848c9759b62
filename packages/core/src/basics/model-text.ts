import { unicodePattern } from './unicode.ts';

/** Longest reason that goes back to a model. */
const maxLength = 1_000;
/** Of what is longer than this only so much is looked at. */
const maxRead = 16_000;

/**
 * Makes a reason fit for a model: no host path, no stack, no invisible characters, well-formed, at most 1,000 characters.
 *
 * A host path is whatever is absolute: two names or more below `/`, the home of a machine's files on its own (`/root`), a drive, a
 * network share, `~/`, `file:`. In quotes it ends with the quote, elsewhere with a space. What stays: relative paths, URLs with a
 * host, one name below `/`, which in the file tools means the workspace (`/notes.txt`), and routes of an API (`/v1/orders`).
 */
export function forModel(message: string): string {
  const text = message.slice(0, maxRead).toWellFormed().replace(stackLines, '');
  const visible = withoutPaths(text).replace(invisible(), '');
  // Without the invisible ones, characters may stand beside each other that make a path.
  const clean = withoutPaths(visible);
  if (clean.length <= maxLength && message.length <= maxRead) return clean;
  return `${clean.slice(0, maxLength - 1).replace(halfPair, '')}…`;
}

// Frames as V8 and Java write them, as Firefox does, and as Python does with the line of code below.
const stackLines = new RegExp(
  [
    String.raw`(?:^|\n)[ \t]*at (?:[^\n]*(?:\((?:[^()\n]*:\d+|native|<anonymous>|index \d+)\)|<anonymous>)|(?=[^\n]*[/\\.])[^\n]*:\d+:\d+)\s*?(?=\n|$)`,
    String.raw`(?:^|\n)[^\s@]*@\S+:\d+:\d+\s*?(?=\n|$)`,
    String.raw`(?:^|\n)[ \t]*File "[^"\n]*", line \d+, in [^\n]*(?:\n[ \t]{4,}[^\n]*)?`,
  ].join('|'),
  'g',
);

// Of a path's name: no space, nothing that closes what the path stands in.
const inName = String.raw`[^/\s\p{Cc}'"\x60,;<>)\]}]`;
const roots =
  'home|Users|root|tmp|var|usr|opt|etc|private|mnt|media|srv|proc|sys|nix|Volumes|Applications|Library|System|work|workspace';
const letter = String.raw`\p{L}\p{N}_`;
const begins = [
  'file:/',
  // Two names; or one that is known, and no longer than that.
  String.raw`\\?/+(?:[${letter}.@$~-]${inName}*/|(?:${roots})(?![${letter}-]|\.[${letter}]))`,
  // Before a backslash names may have spaces in them.
  String.raw`[a-z]:[/\\](?:[^\\/:*?"'<>|\n\x60]+\\)*`,
  String.raw`\\{2,}(?:[?.]|[${letter}.$-]{2,})[/\\]`,
  `~[${letter}.-]*/`,
].join('|');
// Where a path that is not the rest of a relative one begins. The last three: an escaped line break, the letter of an option
// (`-I/usr/include`), a terminal's colour.
const atStart = String.raw`(?:(?<![${letter}.*#@~/\\)\]}-])|(?<=\\[nrt])|(?<=(?:^|\s)-[a-z])|(?<=\x1b\[[\d;]{0,12}[a-z]))`;
const hostPath = unicodePattern(
  [
    // A URL up to its query: kept.
    String.raw`(?<=[${letter}]):\/\/(?!\/|file\/)[^\s'"\x60<>?#]*`,
    String.raw`(?<=(['"\x60]))(?:${begins})(?:(?!\1(?![${letter}]))[^\n])*(?=\1)`,
    // The sentence around it keeps its full stop.
    String.raw`${atStart}(?:${begins})(?:\\ |\[[^\s\[\]]*\]|\([^\s()]*\)|/|${inName})*(?<![.:!?])`,
  ].join('|'),
  'giu',
);

function withoutPaths(text: string): string {
  // Most reasons have neither, and looking closer takes long.
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

// Escape sequences, direction overrides, zero widths, fillers and selectors; but for line breaks and tabs.
const invisible = unicodePattern(
  String.raw`(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]`,
  'gu',
);
const halfPair = /[\ud800-\udbff]$/;
