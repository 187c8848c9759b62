/** The commands of a package manager by effect. Names are separated by spaces. */
export interface Manager {
  readonly registry: string;
  /** Without operands they install from the lock file. */
  readonly install?: string;
  /** A command follows. */
  readonly exec?: string;
  /** A program follows that may be downloaded first. */
  readonly fetches?: string;
  readonly publishes?: string;
  /** They print or change files that contain tokens. */
  readonly settings?: string;
  /** They change the file that lists scripts and dependencies. */
  readonly edits?: string;
  /** All other commands: scripts of the workspace, or unknown. */
  readonly others: 'project' | 'unknown';
  readonly harmless?: string;
  readonly options?: string;
  /** The file that lists its scripts. */
  readonly files?: readonly string[];
}

export const common =
  'C:folder directory:folder cwd:folder prefix:folder w:text workspace:text filter:text F:text node-options:code script-shell:run scripts-prepend-node-path:code userconfig:load globalconfig:load registry:host reporter:text loglevel:text';
const javascript = {
  registry: 'registry.npmjs.org',
  publishes: 'publish unpublish deprecate login adduser logout owner access dist-tag token profile team star hook org',
  settings: 'config c get set',
  edits: 'pkg version init create set-script',
  others: 'project',
  harmless:
    'ls list ll la view info show why explain outdated audit help search bin root prefix -v doctor fund query sbom licenses whoami ping',
  options: common,
  files: ['package.json'],
} as const;
const pythonOptions =
  'r:read requirement:read c:read constraint:read e:text editable:text i:host index-url:host extra-index-url:host f:text find-links:text t:write target:write prefix:write root:write src:write d:write dest:write python:text p:text group:text only-group:text extra:text project:folder directory:folder with:text from:text G:text env-file:read';

export const managers: Readonly<Record<string, Manager>> = {
  npm: {
    ...javascript,
    install: 'install i add in ins inst isntall update up upgrade link ln ci clean-install install-clean',
    exec: 'exec x',
    fetches: '',
  },
  pnpm: { ...javascript, install: 'install i add update up upgrade link ci', exec: 'exec', fetches: 'dlx create' },
  yarn: { ...javascript, install: 'install add up upgrade global', exec: 'exec node', fetches: 'dlx create' },
  bun: {
    ...javascript,
    install: 'install i add update link',
    exec: 'exec',
    fetches: 'x create',
    options: `${common} e:code eval:code p:code print:code r:load preload:load c:load config:load env-file:read`,
  },
  npx: { ...javascript, others: 'unknown', options: `${common} p:text package:text c:run call:run` },
  bunx: { ...javascript, others: 'unknown' },
  pnpx: { ...javascript, others: 'unknown' },
  deno: {
    ...javascript,
    registry: 'jsr.io',
    install: 'install add cache',
    exec: '',
    fetches: 'x',
    others: 'project',
    options: `${common} c:read config:read import-map:read env-file:read r:flag`,
    edits: '',
    harmless: 'info doc help types',
  },
  pip: {
    registry: 'pypi.org',
    install: 'install download wheel',
    publishes: '',
    settings: 'config',
    others: 'project',
    harmless: 'list show freeze check search index help debug hash inspect cache uninstall',
    options: pythonOptions,
  },
  uv: {
    registry: 'pypi.org',
    install: 'add sync lock pip tool self',
    exec: 'run',
    fetches: '',
    publishes: 'publish',
    others: 'project',
    options: pythonOptions,
    harmless: 'tree export help version cache venv python init',
  },
  uvx: { registry: 'pypi.org', others: 'unknown', options: pythonOptions },
  pipx: {
    registry: 'pypi.org',
    install: 'install inject upgrade',
    exec: '',
    fetches: 'run',
    others: 'project',
    options: pythonOptions,
  },
  poetry: {
    registry: 'pypi.org',
    install: 'add install update self',
    exec: 'run',
    publishes: 'publish',
    settings: 'config',
    others: 'project',
    options: pythonOptions,
  },
  pdm: {
    registry: 'pypi.org',
    install: 'add install sync update self lock',
    exec: '',
    publishes: 'publish',
    settings: 'config',
    others: 'project',
    options: pythonOptions,
    harmless: 'list show info',
  },
  pipenv: {
    registry: 'pypi.org',
    install: 'install sync update',
    exec: 'run',
    others: 'project',
    options: pythonOptions,
  },
  conda: {
    registry: 'conda.anaconda.org',
    install: 'install create update env',
    exec: 'run',
    settings: 'config',
    others: 'project',
    options: 'n:text name:text c:text f:read p:write',
    harmless: 'activate deactivate list info init',
  },
  mamba: {
    registry: 'conda.anaconda.org',
    install: 'install create update env',
    exec: 'run',
    others: 'project',
    options: 'n:text c:text f:read',
  },
  cargo: {
    registry: 'crates.io',
    install: 'install add binstall',
    publishes: 'publish yank login owner logout',
    others: 'project',
    options:
      'p:text package:text Z:text bin:text example:text test:text features:text target:text profile:text manifest-path:load j:text config:code target-dir:write C:folder',
    harmless: 'tree search metadata help version',
    files: ['Cargo.toml', 'build.rs'],
  },
  go: {
    registry: 'proxy.golang.org',
    install: 'get install',
    others: 'project',
    options:
      'o:write C:folder exec:run toolexec:run overlay:load modfile:load ldflags:text gcflags:text tags:text run:text',
    harmless: 'version list doc fmt vet help',
  },
  gem: {
    registry: 'rubygems.org',
    install: 'install update',
    publishes: 'push yank signin owner',
    others: 'unknown',
    harmless: 'list search info help',
  },
  bundle: {
    registry: 'rubygems.org',
    install: 'add update',
    exec: 'exec',
    others: 'project',
    harmless: 'list show info check',
  },
  composer: { registry: 'packagist.org', install: 'require update global', others: 'project' },
  rustup: {
    registry: 'static.rust-lang.org',
    install: 'toolchain install update self',
    exec: 'run',
    others: 'project',
    harmless: 'show default target component which doc override check help -V',
  },
  brew: {
    registry: 'formulae.brew.sh',
    install: 'install reinstall upgrade tap cask',
    others: 'unknown',
    harmless: 'list info search doctor config deps',
  },
  apt: {
    registry: 'apt',
    install: 'install upgrade update full-upgrade remove purge autoremove',
    others: 'unknown',
    harmless: 'list search show policy',
  },
  'apt-get': {
    registry: 'apt',
    install: 'install upgrade update dist-upgrade remove purge autoremove',
    others: 'unknown',
  },
  corepack: {
    registry: 'registry.npmjs.org',
    install: 'use up install prepare',
    others: 'project',
    harmless: 'enable disable',
  },
};
