import type { Command } from 'commander';
import type { Host } from '../terminal/host.ts';
import { quoteWord } from '../terminal/words.ts';

/** What is said of `run Count the words`: a request without quotes, of which each word is an argument. */
export function findUnquoted(
  argv: readonly string[],
  program: Command,
  host: Pick<Host, 'command'>,
): string | undefined {
  const [name = '', action = ''] = argv;
  if (name !== 'run' && name !== 'plan') return undefined;
  const command = findCommand(program, name);
  // Of `plan run the tests` the first word may belong to the request.
  const inner = name === 'plan' ? findCommand(command, action) : undefined;
  const typed = readWords(argv.slice(inner === undefined ? 1 : 2), inner ?? command);
  if (typed === undefined || typed.operands.length < 2) return undefined;
  // An option in front of `plan check` is another mistake.
  if (inner === undefined && findCommand(command, typed.operands[0] ?? '') !== undefined) return undefined;
  const request = [...(inner === undefined ? [] : [action]), ...typed.operands].join(' ');
  const fixed = [host.command, name, quoteWord(request), ...typed.options.map(quoteWord)].join(' ');
  return inner === undefined
    ? `put the request in quotes: ${fixed}`
    : `too many arguments: \`plan ${action}\` takes one file; a request stands in quotes: ${fixed}`;
}

function findCommand(command: Command | undefined, name: string): Command | undefined {
  return command?.commands.find((one) => one.name() === name);
}

interface TypedWords {
  readonly operands: readonly string[];
  /** With their values. */
  readonly options: readonly string[];
}

/** `undefined` where help is asked for, or an option is unknown, which is the thing to say then. */
function readWords(words: readonly string[], command: Command | undefined): TypedWords | undefined {
  const operands: string[] = [];
  const options: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (word === '--') return { operands: [...operands, ...words.slice(at + 1)], options };
    if (!word.startsWith('-') || word === '-') {
      operands.push(word);
      continue;
    }
    const [flag = ''] = word.split('=', 1);
    const option = command?.options.find(({ short, long }) => flag === short || flag === long);
    if (option === undefined) return undefined;
    options.push(word);
    if (option.required && word === flag) {
      at += 1;
      options.push(words[at] ?? '');
    }
  }
  return { operands, options };
}
