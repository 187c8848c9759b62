import type { Shape } from './shape.ts';

const grep = {
  options:
    'e:text f:read m:text A:text B:text C:text d:text D:text regexp:text file:read include:only exclude:except exclude-dir:except exclude-from:read ' +
    'max-count:text context:text label:text color:flag colour:flag binary-files:text directories:text devices:text',
  operands: 'text read*',
  unless: 'e f regexp file',
  tree: 'r R d recursive dereference-recursive directories',
  follows: 'R dereference-recursive',
  default: '.',
} as const;
const ripgrep = {
  options:
    'e:text f:read g:text t:text T:text A:text B:text C:text m:text j:text M:text r:text E:text regexp:text file:read glob:text iglob:text type:text type-not:text ' +
    'ignore-file:read pre:run pre-glob:text hostname-bin:run replace:text max-depth:text sort:text sortr:text encoding:text color:text colors:text engine:text path-separator:text',
  operands: 'text read*',
  unless: 'e f regexp file files type-list',
  tree: '*',
  default: '.',
  follows: 'L follow',
  reveals:
    'u:ignored unrestricted:ignored no-ignore:ignored no-ignore-vcs:ignored no-ignore-parent:ignored hidden:hidden .:hidden U:ignored',
} as const;
const print = { operands: 'read*' } as const;
const sums = { options: 'c:list check:list', operands: 'read*' } as const;
const pager = {
  options:
    'o:write O:write log-file:write k:load lesskey-file:load t:text T:read p:text P:text x:text y:text z:text b:text',
} as const;
const compress = {
  options: 'S:text suffix:text T:text threads:text o:write b:text',
  operands: 'read*',
  tree: 'r recursive',
  replaces: 'c stdout to-stdout k keep l list t test',
} as const;
const owner = {
  options: 'reference:read from:text',
  operands: 'text write*',
  unless: 'reference',
  tree: 'R recursive',
} as const;

/** Programs that read, write and delete files, as data. Options and operands follow the manuals of GNU, BSD and the projects themselves. */
export const filePrograms: Readonly<Record<string, Shape>> = {
  cat: print,
  tac: { options: 's:text separator:text', operands: 'read*' },
  nl: { options: 'b:text d:text f:text h:text i:text l:text n:text s:text v:text w:text', operands: 'read*' },
  head: { options: 'n:text c:text lines:text bytes:text', operands: 'read*' },
  tail: { options: 'n:text c:text s:text lines:text bytes:text pid:text', operands: 'read*' },
  less: { ...pager, operands: 'read*', plus: true },
  more: { options: 'n:text', operands: 'read*', plus: true },
  bat: {
    options:
      'l:text language:text r:text line-range:text H:text style:text theme:text pager:run file-name:text map-syntax:text m:text',
    operands: 'read*',
  },
  wc: { options: 'files0-from:list total:text', operands: 'read*' },
  sort: {
    options:
      'o:write output:write k:text key:text t:text field-separator:text S:text buffer-size:text T:text parallel:text files0-from:list compress-program:run random-source:read sort:text batch-size:text',
    operands: 'read*',
  },
  uniq: { options: 'f:text s:text w:text', operands: 'read write' },
  cut: { options: 'd:text f:text c:text b:text delimiter:text fields:text output-delimiter:text', operands: 'read*' },
  paste: { options: 'd:text delimiters:text', operands: 'read*' },
  join: { options: '1:text 2:text a:text e:text j:text o:text t:text v:text', operands: 'read*' },
  comm: { options: 'output-delimiter:text', operands: 'read*' },
  column: { options: 'c:text s:text o:text t:flag', operands: 'read*' },
  fold: { options: 'w:text', operands: 'read*' },
  fmt: { options: 'w:text p:text', operands: 'read*' },
  expand: { options: 't:text', operands: 'read*' },
  unexpand: { options: 't:text', operands: 'read*' },
  pr: { options: 'h:text l:text w:text', operands: 'read*' },
  rev: print,
  od: { options: 'A:text j:text N:text S:text t:text w:text', operands: 'read*' },
  xxd: { options: 'c:text g:text l:text o:text s:text n:text', operands: 'read write' },
  hexdump: { options: 'e:text f:read n:text s:text', operands: 'read*' },
  hd: print,
  strings: { options: 'n:text e:text t:text', operands: 'read*' },
  base64: { options: 'w:text i:read o:write input:read output:write wrap:text', operands: 'read*' },
  base32: { options: 'w:text', operands: 'read*' },
  ...Object.fromEntries(
    ['md5sum', 'sha1sum', 'sha224sum', 'sha256sum', 'sha384sum', 'sha512sum', 'b2sum', 'cksum', 'sum', 'md5'].map(
      (name) => [name, sums],
    ),
  ),
  shasum: { options: 'a:text c:list', operands: 'read*' },
  diff: {
    follows: '*',
    options:
      'U:text u:flag C:text I:text x:except exclude:except X:read exclude-from:read label:text L:text color:flag from-file:read to-file:read unified:flag',
    operands: 'read*',
    tree: '*',
  },
  diff3: print,
  sdiff: { options: 'o:write output:write diff-program:run', operands: 'read*' },
  cmp: { options: 'i:text n:text', operands: 'read read text text' },
  tr: { operands: 'text*' },
  look: { operands: 'text read*' },
  yq: { options: 'p:text o:text I:text i:flag from-file:load', operands: 'text read*' },
  xmllint: { options: 'xpath:text schema:read output:write encode:text', operands: 'read*' },
  iconv: { options: 'f:text t:text o:write from-code:text to-code:text output:write', operands: 'read*' },
  dos2unix: { operands: 'write*' },
  unix2dos: { operands: 'write*' },
  file: { options: 'f:list files-from:list m:read magic-file:read e:text F:text P:text', operands: 'read*' },
  grep,
  egrep: grep,
  fgrep: grep,
  zgrep: grep,
  rg: { ...ripgrep, skips: ['hidden', 'ignored'] },
  ag: { ...ripgrep, skips: ['hidden', 'ignored'] },
  ack: { ...ripgrep, skips: ['hidden'] },
  tee: { operands: 'write*' },
  touch: { options: 'd:text r:read t:text date:text reference:read', operands: 'write*' },
  mkdir: { options: 'm:text mode:text', operands: 'write*' },
  mktemp: { options: 'p:text suffix:text tmpdir:text', operands: 'text*' },
  mkfifo: { operands: 'write*' },
  truncate: { options: 's:text r:read size:text reference:read', operands: 'write*' },
  split: { options: 'b:text l:text n:text a:text filter:run', operands: 'read write', changes: true },
  csplit: { options: 'f:write n:text b:text', operands: 'read text*', changes: true },
  cp: {
    follows: 'L dereference H',
    options: 't:write target-directory:write S:text suffix:text no-preserve:text preserve:flag',
    operands: 'read* write',
    tree: 'r R a recursive archive',
  },
  install: {
    options:
      'm:text o:text g:text t:write S:text mode:text owner:text group:text target-directory:write strip-program:run',
    operands: 'read* write',
  },
  ln: { options: 't:write target-directory:write S:text', operands: 'read* write', tree: '*' },
  mv: {
    options: 't:write target-directory:write S:text suffix:text',
    operands: 'move* write',
    tree: '*',
  },
  rm: { operands: 'delete*', tree: 'r R recursive' },
  rimraf: { options: 'preserve-root:flag', operands: 'delete*', tree: '*' },
  del: { operands: 'delete*' },
  rmdir: { operands: 'delete*' },
  unlink: { operands: 'delete*' },
  shred: { options: 'n:text s:text random-source:read', operands: 'delete*' },
  chmod: { options: 'reference:read', operands: 'text write*', unless: 'reference', tree: 'R recursive' },
  chown: owner,
  chgrp: owner,
  dd: { operands: 'text*', pairs: 'if:read of:write' },
  zip: { follows: 'r', options: 'x:text i:text P:text b:text', operands: 'write read*', tree: 'r R recurse-paths' },
  unzip: { options: 'd:into x:text P:text p:flag', operands: 'read text*', changes: true },
  '7z': { options: 'o:into p:text', operands: 'text write read*', tree: '*' },
  gzip: compress,
  gunzip: compress,
  bzip2: compress,
  bunzip2: compress,
  xz: compress,
  unxz: compress,
  zstd: compress,
  zcat: print,
  bzcat: print,
  xzcat: print,
  zless: print,
  patch: {
    options:
      'p:text i:read o:write d:folder r:write B:text input:read output:write directory:folder reject-file:write strip:text',
    operands: 'write read',
    changes: true,
  },
  openssl: {
    options:
      'in:read out:write inkey:read key:read cert:read CAfile:read passin:text passout:text subj:text days:text connect:host config:load engine:load pass:text K:text iv:text',
    operands: 'text maybe*',
    oneDash: true,
  },
  gpg: { options: 'o:write output:write r:text recipient:text u:text homedir:read', operands: 'read*' },
  age: { options: 'o:write i:read r:text R:read identity:read output:write', operands: 'read*' },
  'ssh-keygen': { options: 'f:write t:text b:text C:text N:text y:flag', operands: 'read*' },
  sqlite3: { options: 'cmd:code init:load', operands: 'write code' },
  date: { options: 'f:list file:list r:text reference:text d:text date:text', operands: 'text*' },
  du: { options: 'files0-from:list X:read exclude-from:read d:text t:text B:text exclude:text', operands: 'text*' },
  hostname: { options: 'F:read file:read b:flag', operands: 'maybe*' },
  tree: { options: 'L:text I:text P:text o:write H:text', operands: 'maybe*' },
  tsort: print,
  who: { operands: 'read*' },
  users: { operands: 'read*' },
  nano: { operands: 'write*' },
  code: { operands: 'text*' },
  open: { operands: 'maybe*' },
  'xdg-open': { operands: 'maybe*' },
  man: { options: 'P:run pager:run C:load H:run', operands: 'text*' },
  pandoc: {
    options: 'o:write output:write f:text t:text F:run filter:run lua-filter:load from:text to:text',
    operands: 'read*',
  },
  lcov: { options: 'o:write a:read d:read c:flag r:read output-file:write', operands: 'text*' },
};

/** Programs that print or test something without reading files, or wait: their arguments have no effect. */
export const inertPrograms: readonly string[] = [
  ...'[ : arch basename cal clear df dirname expr factor false free getconf groups id jobs locale logname ls lsof nproc'.split(
    ' ',
  ),
  ...'pathchk ps readlink realpath seq sleep stat stty sw_vers test times tput true tty type ulimit umask uname uptime'.split(
    ' ',
  ),
  ...'kill wait whereis which whoami yes break continue disown fg bg getopt numfmt sync dirs vmstat iostat lscpu lsblk nvidia-smi exa eza'.split(
    ' ',
  ),
];
