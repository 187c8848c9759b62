import { readFileSync } from 'node:fs';
import fc from 'fast-check';

/** Random scripts that read `.env`, or look as if they did. They do not change the folder that they run in. */

const names = [
  '.env',
  './.env',
  'sub/../.env',
  '"$PWD/.env"',
  '.e*',
  '.e?v',
  '.[e]nv',
  ".e''nv",
  '.en"v"',
  '.\\env',
  "$'.\\x65nv'",
  '.e{n,x}v',
  'x',
  './x',
  '$f',
  '"$f"',
  `"\${f}"`,
  `\${f:-.env}`,
  '.e$n',
  '$(echo .env)',
  '`echo .env`',
  '*',
  './*',
  '.*',
  '{.env,a.txt}',
  '~/.env',
  'sub/l',
  '$1',
  '"$@"',
  '$nosuch.env',
  '.env$nosuch',
  '~+/.env',
  '.[^a]nv',
  '.[d-f]nv',
  '.e{n,n}v',
  '"$_"',
  'f=~/x',
  '*/../x',
  "$'x'",
];
const harmless = ['a.txt', './a.txt', 'sub/b.txt', '*.txt', '"$g"', '$g', '{a,c}.txt', 'sub/*.txt', '~/a.txt'];
const readers: readonly ((file: string) => string)[] = [
  (file) => `cat ${file}`,
  (file) => `cat < ${file}`,
  (file) => `cat 0<${file}`,
  (file) => `cat <> ${file}`,
  (file) => `head -n 1 ${file}`,
  (file) => `tail -n +1 ${file}`,
  (file) => `sed -n p ${file}`,
  (file) => `sed -n 'r '${file} a.txt`,
  (file) => `awk 1 ${file}`,
  (file) => `grep -h K ${file}`,
  (file) => `grep -f ${file} a.txt`,
  () => 'grep -r CANARY',
  (file) => `grep -rh "" --include=${file} .`,
  (file) => `sort ${file}`,
  (file) => `sort -o out ${file}`,
  (file) => `wc ${file}`,
  (file) => `base64 ${file}`,
  (file) => `od -c ${file}`,
  (file) => `cut -c1-9 ${file}`,
  (file) => `tac ${file}`,
  (file) => `rev ${file}`,
  (file) => `paste ${file} a.txt`,
  (file) => `diff ${file} a.txt`,
  (file) => `cmp a.txt ${file}`,
  (file) => `cp ${file} out`,
  () => 'cp -r . ../copy',
  (file) => `dd if=${file}`,
  (file) => `tar cf - ${file}`,
  () => 'tar cf - .',
  (file) => `tee out < ${file}`,
  (file) => `. ${file}`,
  (file) => `sh ${file}`,
  (file) => `echo "$(<${file})"`,
  (file) => `while read -r l; do echo "$l"; done < ${file}`,
  (file) => `echo ${file} | xargs cat`,
  (file) => `xargs cat <<< ${file}`,
  (file) => `find . -name ${file} -exec cat {} +`,
  () => 'find . -type f | xargs cat',
  (file) => `cd sub && cat ../${file}`,
  (file) => `f=${file}; cat $f`,
  (file) => `for f in ${file}; do cat "$f"; done`,
  (file) => `set -- ${file}; cat "$@"`,
  (file) => `h() { cat "$@"; }; h ${file}`,
  (file) => `eval cat ${file}`,
  (file) => `c=cat; $c ${file}`,
  (file) => `ca''t ${file}`,
  () => "echo 'cat .env' > y.sh; sh y.sh",
  (file) => `read -r f <<E\n${file}\nE\ncat "$f"`,
  (file) => `alias q=cat\nq ${file}`,
  (file) => `ln -s ${file} z; cat z`,
  (file) => `mv ${file} z; cat z`,
];
// Options in all spellings, in front of a file, with another operand or without.
const options = [
  ...['-f', '-F', '-n', '-c', '-i', '-o', '-s', '-t', '-T', '-X', '-C', '-d', '-e', '-r', '-R', '-I', '-S', '-u', '-v'],
  ...['--file', '--fil', '--files0-from', '--from-file', '--files-from', '--exclude-from', '--reference', '--input'],
  ...['--regexp', '--re', '--include', '--expression', '--source', '--directory', '--recursive', '--max-args', '--'],
];
const optioned =
  'cat head tail sed awk grep sort wc cut paste diff cmp date du tsort comm join uniq od base64 tar file stat ls tree who column nl fold ' +
  'split shuf xargs find env timeout nice stdbuf setsid bash sh dd tee ln mv cp test printf';
const withOption: fc.Arbitrary<(file: string) => string> = fc
  .record({
    program: fc.constantFrom(...optioned.split(' ')),
    option: fc.constantFrom(...options),
    joint: fc.constantFrom(' ', '=', ''),
    before: fc.constantFrom('', 'a ', 'a.txt ', '-n ', '-r ', '. '),
    after: fc.constantFrom('', ' a.txt', ' .', ' cat', ' -r', " cat {} ';'", ' if=.env'),
  })
  .map(
    ({ program, option, joint, before, after }) =>
      (file) =>
        `${program} ${before}${option}${joint}${file}${after}`,
  );

function readLines(name: string): readonly string[] {
  const lines = readFileSync(new URL(`./${name}.txt`, import.meta.url), 'utf8').split('\n');
  return lines.filter((line) => line !== '' && !line.startsWith('# '));
}

// The variables they set, and their folders.
const moved = ['$f', '"$f"', `"\${f}"`, 'x$n', '"x$n"', 'x', 'l', '../x', '../sub/l', '"$PWD/x"', '$n.env', '~/x', '*'];
const steps: fc.Arbitrary<(script: string) => string> = fc
  .array(
    fc.tuple(
      fc.constantFrom(...readLines('setters'), ...readLines('movers')),
      fc.constantFrom('; ', '\n', ' && ', ' || '),
    ),
    {
      minLength: 1,
      maxLength: 4,
    },
  )
  .map((found) => (script) => `${found.flat().join('')}${script}`);
const quote = (script: string): string => `'${script.replaceAll("'", "'\\''")}'`;
const around: readonly ((script: string) => string)[] = [
  (script) => script,
  (script) => `f=.env; n=nv; g=a.txt; ${script}`,
  (script) => `f=a.txt; f=.env; ${script}`,
  (script) => `set -- .env; ${script}`,
  (script) => `cd sub; cd ..; ${script}`,
  (script) => `cd nosuch; ${script}`,
  (script) => `( ${script}\n)`,
  (script) => `{ ${script}\n}`,
  (script) => `echo a; ${script}`,
  (script) => `true && { ${script}\n}`,
  (script) => `false || { ${script}\n}`,
  (script) => `! { ${script}\n}`,
  (script) => `{ ${script}\n} | cat`,
  (script) => `echo b | { ${script}\n}`,
  (script) => `echo "$(${script}\n)"`,
  (script) => `echo \`echo a\` "$(${script}\n)"`,
  (script) => `v=$(${script}\n); echo "$v"`,
  (script) => `if true; then ${script}\nfi`,
  (script) => `for i in 1 2; do ${script}\ndone`,
  (script) => `case a in a) ${script}\n;; esac`,
  (script) => `k() { ${script}\n}; k .env`,
  (script) => `function k { ${script}\n}; k .env`,
  (script) => `sh -c ${quote(script)}`,
  (script) => `bash -c ${quote(script)} .env .env`,
  (script) => `eval ${quote(script)}`,
  (script) => `trap ${quote(script)} EXIT`,
  (script) => `f=.env sh -c ${quote(script)}`,
  (script) => `export f=.env; sh -c ${quote(script)}`,
  (script) => `sh <<'STOP'\n${script}\nSTOP\n`,
  (script) => `bash <<< ${quote(script)}`,
  (script) => `cat <<E\n$(${script}\n)\nE\n`,
  (script) => `env f=.env sh -c ${quote(script)}`,
  (script) => `f=a.txt; env f=.env sh -c ${quote(script)}`,
  (script) => `f=.env; export f; f=a.txt; ${script}`,
  (script) => `export f=.env; (f=a.txt); ${script}`,
  (script) => `f=a.txt; g() { return; f=.env; }; g; ${script}`,
  (script) => `(cat() { :; }); ${script}`,
  (script) => `cat() { :; }; unset -f cat; ${script}`,
  (script) => `cat() { :; }; bash -c ${quote(script)}`,
  (script) => `for f in a.txt .env; do ${script}\ndone`,
  (script) => `cd sub && { ${script}\n}`,
  (script) => `cd sub || { ${script}\n}`,
  (script) => `h() { cd sub; return; }; h; ${script}`,
  (script) => `IFS=a; ${script}`,
  (script) => `set -f; ${script}`,
  (script) => `set -e; false; ${script}`,
  (script) => `timeout 2 sh -c ${quote(script)}`,
  (script) => `while :; do ${script}\nbreak; done`,
  (script) => `cat() { command cat "$@"; }; ${script}`,
  (script) => `[[ -n $(${script}\n) ]]`,
  (script) => `: "\${nosuch:-$(${script}\n)}"`,
  (script) => `alias cat=head\n${script}`,
  (script) => `${script} &\nwait`,
];
const wordWrappers = [
  '',
  '',
  '',
  'command ',
  'env ',
  'env a=b ',
  'nice ',
  'timeout 2 ',
  'time ',
  'exec ',
  'a=b ',
  '2>&1 ',
  '! ',
];

/** Scripts that read the canary in most of all cases, and files beside it in the others. */
export const readingScript: fc.Arbitrary<string> = fc
  .tuple(
    fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(...readers) },
      { weight: 2, arbitrary: withOption },
      { weight: 2, arbitrary: fc.constantFrom(...moved.map((file) => () => `cat ${file}`)) },
    ),
    fc.oneof(
      { weight: 2, arbitrary: fc.constantFrom(...names) },
      { weight: 3, arbitrary: fc.constantFrom(...harmless) },
    ),
    fc.constantFrom(...wordWrappers),
    fc.array(fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...around) }, { weight: 2, arbitrary: steps }), {
      maxLength: 3,
    }),
  )
  .map(([reader, file, wrapper, places]) => places.reduce((script, place) => place(script), wrapper + reader(file)));

// `⏎` is the end of a line, `␣` a blank.
const pieces = readLines('pieces').map((piece) => piece.replaceAll('⏎', '\n').replaceAll('␣', ' '));

/** Pieces in any order: most are broken, and what the shells make of them is what nobody would write. */
export const brokenScript: fc.Arbitrary<string> = fc
  .array(fc.tuple(fc.constantFrom(...pieces), fc.constantFrom('', '', ' ')), { minLength: 1, maxLength: 14 })
  .map((found) => found.flat().join(''));

/** A script that reads, with a few characters changed. */
export const changedScript: fc.Arbitrary<string> = fc
  .tuple(
    readingScript,
    fc.array(fc.tuple(fc.nat({ max: 200 }), fc.constantFrom('', '', ...pieces)), { minLength: 1, maxLength: 3 }),
  )
  .map(([script, changes]) =>
    changes.reduce((text, [at, piece]) => {
      const index = at % (text.length + 1);
      return text.slice(0, index) + piece + text.slice(piece === '' ? index + 1 : index);
    }, script),
  );
