import type { Finding } from '../text/diagnostic.ts';

const maxLength = 1000;
// A quantifier that may repeat more often than this counts as one without an end.
const manyTimes = 10;

/** Why `pattern` cannot be used to check arguments: no regular expression, or one that can stall on a short text. */
export function findPatternProblem(pattern: string): Pick<Finding, 'message' | 'hint'> | undefined {
  if (pattern.length > maxLength) {
    return { message: `A pattern has ${pattern.length} characters.`, hint: `Keep it under ${maxLength}.` };
  }
  if (compile(pattern) === undefined) {
    return {
      message: `\`${pattern}\` is no regular expression.`,
      hint: 'Patterns are JavaScript regular expressions with the flag `u`.',
    };
  }
  if (!canStall(parse(tokenize(pattern)))) return undefined;
  return {
    message: `\`${pattern}\` can take for ever: it repeats something that itself repeats, or that can match in two ways.`,
    hint: 'Repeat one thing at a time, or begin every round with a character that the rest cannot match.',
  };
}

function compile(source: string): RegExp | undefined {
  try {
    return new RegExp(source, 'u');
  } catch {
    // Not a regular expression: that is the answer.
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

// Whether a text can be cut into rounds of a repeated group in more than one way. Errs on the side of yes.
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

// Whether every round has a fixed character, and what varies in it cannot match anything else of the round.
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
  // An empty alternative or a group may match anything, as far as this goes.
  if (left === undefined || right === undefined) return true;
  if (typeof left.atom !== 'string' || typeof right.atom !== 'string') return true;
  const [first, second] = [compile(`^(?:${left.atom})$`), compile(`^(?:${right.atom})$`)];
  if (first === undefined || second === undefined) return true;
  return samples.some((sample) => first.test(sample) && second.test(sample));
}
