/** Settings that name no program and no file. */
export const plainSettings: RegExp =
  /^(?:user\.(?:name|email)|color\..*|advice\..*|core\.(?:quotepath|autocrlf|eol|safecrlf|filemode|abbrev|ignorecase|longpaths|precomposeunicode|preloadindex|compression|bigfilethreshold)|commit\.gpgsign|tag\.gpgsign|init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote|followtags)|fetch\.prune|merge\.conflictstyle|rebase\.(?:autostash|autosquash)|diff\.(?:renames|algorithm|noprefix|mnemonicprefix)|log\..*|status\..*|protocol\.version|http\.(?:postbuffer|version|lowspeed.*)|gc\.auto|safe\.directory|submodule\.recurse|feature\..*|index\..*|pack\..*|rerere\.enabled|column\.ui)$/i;
export const plainCore: RegExp = /^core\.(?:pager|editor)=(?:cat|true|:|less)?$/i;

/** A Git subcommand: its options and operands. */
export interface Part {
  readonly options?: string;
  /** Operands are paths, revisions or both; without one it uses the whole tree. `revision` operands may be `REVISION:PATH`. */
  readonly operands: 'paths' | 'shown' | 'none' | 'writes' | 'remote' | 'message';
  /** Options with which it shows file contents. */
  readonly shows?: string;
  /** It runs hooks, or programs that the configuration names. */
  readonly runs?: true;
}

const none: Part = { operands: 'none' };
const shown: Part = {
  operands: 'shown',
  options:
    'U:text S:text G:text O:read output:write diff-filter:text format:text pretty:text n:text since:text until:text author:text grep:text L:text color:flag ext-diff:code textconv:code stat:flag max-count:text',
};
const log: Part = { ...shown, shows: 'p u patch S G L c cc' };
const writesTree: Part = {
  operands: 'writes',
  options:
    'b:text B:text c:text C:text s:text source:text m:text message:text X:text S:flag x:run exec:run pathspec-from-file:list orphan:text conflict:text onto:text F:read file:read strategy:text strategy-option:text',
  runs: true,
};
const remote: Part = {
  operands: 'remote',
  options:
    'upload-pack:run receive-pack:run exec:run o:text push-option:text depth:text deepen:text j:text jobs:text filter:text shallow-since:text server-option:text refmap:text repo:text b:text branch:text c:code config:code reference:read template:load separate-git-dir:write u:text recurse-submodules:flag',
  runs: true,
};

export const gitParts: ReadonlyMap<string, Part> = new Map<string, Part>([
  ['status', none],
  ['diff', shown],
  ['show', shown],
  ['blame', { ...shown, options: `${shown.options ?? ''} contents:read ignore-revs-file:read ignore-rev:text` }],
  ['annotate', shown],
  ['cat-file', { ...shown, options: 'filters:flag textconv:code' }],
  ['diff-tree', shown],
  ['diff-index', shown],
  ['diff-files', shown],
  ['format-patch', { ...shown, options: `${shown.options ?? ''} o:write` }],
  ['archive', { ...shown, options: 'o:write output:write format:text prefix:text remote:run exec:run add-file:read' }],
  ['log', log],
  ['reflog', log],
  ['whatchanged', { ...shown }],
  ['range-diff', shown],
  [
    'grep',
    {
      operands: 'paths',
      options: 'e:text f:read A:text B:text C:text m:text O:code open-files-in-pager:code max-depth:text threads:text',
    },
  ],
  ['add', { operands: 'paths', options: 'chmod:text pathspec-from-file:list' }],
  ['stage', { operands: 'paths', options: 'chmod:text pathspec-from-file:list' }],
  ['hash-object', { operands: 'paths', options: 't:text path:text' }],
  [
    'commit',
    {
      operands: 'message',
      options:
        'm:text F:read file:read message:text C:text c:text t:read template:read author:text date:text S:flag fixup:text squash:text trailer:text pathspec-from-file:list',
      runs: true,
    },
  ],
  ...'checkout switch restore reset merge rebase cherry-pick revert am apply stash clean rm mv read-tree sparse-checkout worktree bundle'
    .split(' ')
    .map((name) => [name, writesTree] as const),
  ...'fetch pull push clone ls-remote remote submodule'.split(' ').map((name) => [name, remote] as const),
  ['notes', { operands: 'none', options: 'm:text F:read file:read c:text C:text' }],
  ['tag', { operands: 'none', options: 'm:text F:read u:text n:flag', runs: true }],
  ['branch', { operands: 'none', options: 'u:text set-upstream-to:text sort:text format:text contains:text' }],
  ['init', { operands: 'writes', options: 'template:load b:text initial-branch:text separate-git-dir:write' }],
  ...'rev-parse rev-list ls-files ls-tree merge-base describe shortlog name-rev for-each-ref show-ref show-branch symbolic-ref var version help count-objects verify-commit verify-tag check-ignore check-attr check-ref-format cherry fsck diff-pairs whatis maintenance gc prune pack-refs repack update-index write-tree commit-tree merge-tree merge-file update-ref rerere replace stripspace patch-id mktag'
    .split(' ')
    .map((name) => [name, none] as const),
]);
