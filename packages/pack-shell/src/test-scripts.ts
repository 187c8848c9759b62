import fc from 'fast-check';

/** Random scripts that run one command, at any place. `deeper` says how many constructs are around it at most. */

const names = ['rm', '/bin/rm', '\\rm', "r''m", '"rm"', "$'\\x72m'", 'r\\\nm', './rm', 'RM'];
const options = ['-r', '-rf', '-fr', '-f -r', '-R', '--recursive', '--rec', '-v -r -f', '-"r"', "$'-r'"];

/** `rm -r`, as it may be written. */
export const deniedCommand: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...names), fc.constantFrom(...options), fc.boolean())
  .map(([name, option, optionFirst]) => (optionFirst ? `${name} ${option} a` : `${name} a ${option}`));

const quote = (script: string): string => `'${script.replaceAll("'", "'\\''")}'`;

/** Around one command. */
const wrappers: readonly ((command: string) => string)[] = [
  (command) => `env a=b ${command}`,
  (command) => `nice -n 5 ${command}`,
  (command) => `timeout -k 1 5 ${command}`,
  (command) => `nohup ${command}`,
  (command) => `xargs -0 ${command}`,
  (command) => `find . -exec ${command} \\;`,
  (command) => `command ${command}`,
  (command) => `exec ${command}`,
  (command) => `2>/dev/null ${command}`,
  (command) => `${command} 2>/dev/null`,
  (command) => `time ${command}`,
];

/** Around any script. */
const places: readonly ((script: string) => string)[] = [
  (script) => `ls; ${script}`,
  (script) => `${script}\nls`,
  (script) => `ls && { ${script}\n}`,
  (script) => `( ${script}\n) | cat`,
  (script) => `cat a | ( ${script}\n)`,
  (script) => `! ( ${script}\n)`,
  (script) => `echo "$(${script}\n)"`,
  (script) => `echo $(${script}\n) b`,
  (script) => `x=$(${script}\n)`,
  (script) => `cat <(${script}\n)`,
  (script) => `cat <<< "$(${script}\n)"`,
  (script) => `cat <<END\n$(${script}\n)\nEND\n`,
  (script) => `[[ -n $(${script}\n) ]]`,
  (script) => `if true; then ${script}\nfi`,
  (script) => `if ${script}\nthen ls; fi`,
  (script) => `while ${script}\ndo ls; done`,
  (script) => `for x in a b; do ${script}\ndone`,
  (script) => `for x in $(${script}\n); do ls; done`,
  (script) => `case a in a) ${script}\n;; esac`,
  (script) => `f() { ${script}\n}\nf`,
  (script) => `( ${script}\n) &`,
  (script) => `ls # ${script.includes('\n') ? 'then' : 'not'}\n${script}`,
  (script) => `sh -c ${quote(script)}`,
  (script) => `bash -ec ${quote(script)} x y`,
  (script) => `eval ${quote(script)}`,
  (script) => `trap ${quote(script)} EXIT`,
  (script) => `watch ${quote(script)}`,
  (script) => `bash <<< ${quote(script)}`,
  (script) => `bash <<'STOP'\n${script}\nSTOP\n`,
];

export function scriptsAround(command: fc.Arbitrary<string>, deeper: number): fc.Arbitrary<string> {
  return fc
    .tuple(
      command,
      fc.array(fc.constantFrom(...wrappers), { maxLength: 2 }),
      fc.constantFrom('', 'a=b ', '>/dev/null a=b '),
      fc.array(fc.constantFrom(...places), { maxLength: deeper }),
    )
    .map(([script, around, first, outside]) =>
      outside.reduce((inner, place) => place(inner), first + around.reduce((inner, wrap) => wrap(inner), script)),
    );
}

const pieces = [
  ...[
    "'",
    '"',
    '`',
    '$(',
    ')',
    '(',
    ';',
    '|',
    '&',
    '\n',
    "$'",
    '\\',
    '{',
    '}',
    '[[',
    ']]',
    '((',
    '))',
    '$((',
    '${',
    '$[',
    ' ',
    ' ',
  ],
  ...[
    '<<E',
    '<<-E',
    "<<'E'",
    '\nE\n',
    'E',
    '<(',
    '<<<',
    '&>/dev/null',
    '2>&1',
    '>',
    '</dev/null',
    '||',
    '&&',
    '#',
    '!',
    '*',
    '=',
    'x=',
  ],
  ...[
    'if',
    'then',
    'fi',
    'for x in',
    'do',
    'done',
    'case x in',
    'x)',
    'esac',
    ';;',
    'function f',
    'f()',
    'time',
    'eval',
    'sh -c',
    'trap',
  ],
  ...[
    'ls',
    'echo',
    'cat',
    'rm',
    '-r',
    'a',
    '$x',
    '"$x"',
    'env',
    'exec',
    '@(',
    '\\\n',
    "\\'",
    '\u00a0',
    '\r',
    '\u0000',
    '\ud800',
    '=~',
  ],
];

/** Texts that look like scripts, most of them broken. */
export const brokenScript: fc.Arbitrary<string> = fc
  .array(fc.tuple(fc.constantFrom(...pieces), fc.constantFrom('', ' ')), { maxLength: 20 })
  .map((found) => found.flat().join(''));
