import type { Finding } from '../text/diagnostic.ts';

const maxLength = 1000;
// A quantifier that allows more repetitions counts as unlimited.
const manyTimes = 10;

/** The reason why `pattern` cannot validate arguments: not a regular expression, or one that can stall on a short string. */
export function findPatternProblem(pattern: string): Pick<Finding, 'message' | 'hint'> | undefined {
  if (pattern.length > maxLength) {
    return { message: `The pattern has ${pattern.length} characters.`, hint: `Keep it under ${maxLength}.` };
  }
  if (compile(pattern) === undefined) {
    return {
      message: `\`${pattern}\` is not a valid regular expression.`,
      hint: 'Patterns are JavaScript regular expressions with the flag `u`.',
    };
  }
  if (!canStall(parse(tokenize(pattern)))) return undefined;
  return {
    message: `\`${pattern}\` can take exponential time: it repeats a part that itself repeats, or that can match in two ways.`,
    hint: 'Repeat one part at a time, or start each repetition with a character that the rest cannot match.',
  };
}

function compile(source: string): RegExp | undefined {
  try {
    return new RegExp(source, 'u');
  } catch {
    // Not a regular expression.
    return undefined;
  }
}

/** One step of a pattern: a character or class, or a group of alternatives. */
interface Step {
  readonly atom: string | readonly (readonly Step[])[];
  readonly max: number;
  readonly min: number;
}

const tokenPattern =
  /\\(?:[pP]\{[^}]*\}|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|k<[^>]*>|\d+|c[A-Za-z]|.)|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[ims-]*:|=|!|<=|<!|<[^>]*>))?|[*+?]\??|\{\d+(?:,\d*)?\}\??|./gsu;

function tokenize(pattern: string): readonly string[] {
  return pattern.match(tokenPattern) ?? [];
}

function parse(tokens: readonly string[]): readonly (readonly Step[])[] {
  let index = 0;
  function alternatives(): readonly (readonly Step[])[] {
    const all: Step[][] = [[]];
    while (index < tokens.length) {
      const token = tokens[index] ?? '';
      index += 1;
      if (token === ')') break;
      if (token === '|') all.push([]);
      else all.at(-1)?.push(quantified(token.startsWith('(') ? alternatives() : token));
    }
    return all;
  }
  function quantified(atom: Step['atom']): Step {
    const token = tokens[index] ?? '';
    const range = /^\{(\d+)(,?)(\d*)\}/.exec(token);
    const isQuantifier = range !== null || /^[*+?]\??$/.test(token);
    if (!isQuantifier) return { atom, min: 1, max: 1 };
    index += 1;
    if (range === null)
      return { atom, min: token.startsWith('+') ? 1 : 0, max: token.startsWith('?') ? 1 : Number.POSITIVE_INFINITY };
    const [, least = '', comma, most = ''] = range;
    return {
      atom,
      min: Number(least),
      max: most !== '' ? Number(most) : comma === ',' ? Number.POSITIVE_INFINITY : Number(least),
    };
  }
  return alternatives();
}

function canStall(alternatives: readonly (readonly Step[])[]): boolean {
  return alternatives.some((steps) =>
    steps.some(
      ({ atom, max }) => typeof atom !== 'string' && (canStall(atom) || (max > manyTimes && isAmbiguous(atom))),
    ),
  );
}

// True if a string may be split into repetitions of a group in more than one way. When in doubt, true.
function isAmbiguous(alternatives: readonly (readonly Step[])[]): boolean {
  const starts = alternatives.map(([first]) => first);
  const overlapping = starts.some((start, index) =>
    starts.slice(index + 1).some((other) => canBothMatch(start, other)),
  );
  const nested = alternatives.flat().some(({ atom }) => typeof atom !== 'string' && isAmbiguous(atom));
  return overlapping || nested || alternatives.some((steps) => steps.some(varies) && !isDelimited(steps));
}

function varies({ atom, min, max }: Step): boolean {
  return min !== max || (typeof atom !== 'string' && atom.flat().some(varies));
}

// True if every repetition has a fixed character that its variable parts cannot match.
function isDelimited(steps: readonly Step[]): boolean {
  const hasFixed = steps.some((step) => !varies(step) && step.min > 0 && canBothMatch(step, step));
  return (
    hasFixed &&
    steps.filter(varies).every((step) => steps.every((other) => other === step || !canBothMatch(step, other)))
  );
}

const samples: readonly string[] = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  'é',
  'Ω',
  '漢',
  '😀',
];

function canBothMatch(left: Step | undefined, right: Step | undefined): boolean {
  // An empty alternative or a group is assumed to match anything.
  if (left === undefined || right === undefined) return true;
  if (typeof left.atom !== 'string' || typeof right.atom !== 'string') return true;
  const [first, second] = [compile(`^(?:${left.atom})$`), compile(`^(?:${right.atom})$`)];
  if (first === undefined || second === undefined) return true;
  return samples.some((sample) => first.test(sample) && second.test(sample));
}
