import type { Command } from 'commander';
import type { Host } from '../terminal/host.ts';
import { quoteWord } from '../terminal/words.ts';

/** The error for `run Count the words`: a request without quotes, whose words each became an argument. */
export function findUnquoted(
  argv: readonly string[],
  program: Command,
  host: Pick<Host, 'command'>,
): string | undefined {
  const [name = '', action = ''] = argv;
  if (name !== 'run' && name !== 'plan') return undefined;
  const command = findCommand(program, name);
  // In `plan run the tests`, the first word may belong to the request.
  const inner = name === 'plan' ? findCommand(command, action) : undefined;
  const typed = readWords(argv.slice(inner === undefined ? 1 : 2), inner ?? command);
  if (typed === undefined || typed.operands.length < 2) return undefined;
  // An option before `plan check` is a different mistake.
  if (inner === undefined && findCommand(command, typed.operands[0] ?? '') !== undefined) return undefined;
  const request = [...(inner === undefined ? [] : [action]), ...typed.operands].join(' ');
  const fixed = [host.command, name, quoteWord(request), ...typed.options.map(quoteWord)].join(' ');
  return inner === undefined
    ? `put the request in quotes: ${fixed}`
    : `too many arguments: \`plan ${action}\` takes one file; put a request in quotes: ${fixed}`;
}

function findCommand(command: Command | undefined, name: string): Command | undefined {
  return command?.commands.find((one) => one.name() === name);
}

interface TypedWords {
  readonly operands: readonly string[];
  /** Including their values. */
  readonly options: readonly string[];
}

/** `undefined` for help or an unknown option, which has its own error. */
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
