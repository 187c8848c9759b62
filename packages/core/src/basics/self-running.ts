import { foldKey } from './fold-path.ts';

interface Places {
  /** Who runs them and when, after "`x` runs by itself: ". */
  readonly why: string;
  /**
   * At any depth, with spaces between: a file by its name or the end of its path, `*` for a part of a name; with `/` at the end a
   * folder and all in it.
   */
  readonly files: string;
}

// Sources, beside the programs' own manuals: npm "Scripts" (life cycle scripts) and ".npmrc"; pnpm ".pnpmfile.cjs"; Yarn `yarnPath`;
// mise "Hooks"; direnv ".envrc"; VS Code "Tasks" (`runOn: folderOpen`) and "Workspace Trust"; Neovim `exrc`; Emacs "Safety of File
// Variables"; Dev Containers "Lifecycle scripts"; Python `site` (`sitecustomize`, `.pth`); R "Startup"; `gitattributes(5)`.
const places: readonly Places[] = [
  {
    why: 'package managers load it, or run its scripts, when they install',
    files: `
      package.json .npmrc .yarnrc .yarnrc.yml .yarn/ .pnpmfile.* pnpm-workspace.yaml bunfig.toml composer.json
      setup.py pyproject.toml Gemfile *.gemspec Podfile`,
  },
  {
    why: 'Git, or what manages its hooks, runs what it names at a commit, a checkout or a push',
    files: `
      .gitconfig .config/git/ .gitattributes .gitmodules .githooks/ .git-hooks/ .husky/ .huskyrc* lefthook.*
      .lefthook.* lefthook-local.* .lefthook-local.* .lefthook/ .lefthook-local/ hk.pkl .pre-commit-config.yaml
      .pre-commit-hooks.yaml .overcommit.yml .lintstagedrc* lint-staged.config.* .commitlintrc* commitlint.config.*`,
  },
  {
    why: 'the shell loads it when somebody enters the folder',
    files: `
      .envrc .autoenv .autoenv.zsh .tool-versions mise.toml mise.*.toml .mise.toml .mise.*.toml .rtx.toml
      mise/config*.toml .mise/ .config/mise/`,
  },
  {
    why: 'editors act on it when they open the folder',
    files: `
      .vscode/ *.code-workspace .idea/ .fleet/ .zed/ .vs/ .helix/ .theia/ .idx/ .devcontainer/ .devcontainer.json
      .gitpod.yml .replit .exrc .vimrc _vimrc .gvimrc .lvimrc .nvimrc .nvim.lua .vim/ .config/nvim/ .dir-locals.el
      .dir-locals-2.el .emacs .emacs.el .emacs.d/ .config/emacs/`,
  },
  {
    why: 'coding agents take their settings, hooks and MCP servers from it',
    files: `
      .mcp.json .claude/ .claude.json .claude-plugin/ .cursor/ .codex/ .gemini/ .qwen/ .windsurf/ .codeium/
      .continue/ .continuerc.json .aider.conf.yml .opencode/ opencode.json* .roo/ .kilocode/ .cline/ .kiro/
      .amazonq/ .junie/ .augment/ .factory/ .trae/ .amp/ .pi/ .copilot/ .crush.json crush.json .config/goose/`,
  },
  {
    why: 'continuous integration runs it, with the secrets of the repository, at a push',
    files: `
      .github/workflows/ .github/actions/ .forgejo/workflows/ .gitea/workflows/ .gitlab-ci.yml .gitlab/ci/
      .circleci/ .buildkite/ .teamcity/ .semaphore/ .woodpecker/ .woodpecker.y*ml .drone.y*ml Jenkinsfile
      azure-pipelines.y*ml .azure-pipelines/ bitbucket-pipelines.yml .travis.yml .cirrus.yml appveyor.yml
      .appveyor.yml cloudbuild.y*ml buildspec.y*ml codemagic.yaml netlify.toml vercel.json`,
  },
  {
    why: 'it starts the build tool itself',
    files: `
      .mvn/ mvnw mvnw.cmd gradlew gradlew.bat gradle/wrapper/ .cargo/config .cargo/config.toml`,
  },
  {
    why: 'Python, R or Ruby loads it whenever it starts',
    files: `
      sitecustomize.py usercustomize.py *.pth .pdbrc .ipython/ .Rprofile .Renviron .irbrc .pryrc`,
  },
  {
    why: 'shells, login or the desktop run it when they start',
    files: `
      .profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .kshrc .cshrc .tcshrc .zshrc .zshenv
      .zprofile .zlogin .zlogout .config/fish/ .config/nushell/ .config/powershell/ PowerShell/*profile.ps1
      WindowsPowerShell/*profile.ps1 .tmux.conf .screenrc .ssh/ .xprofile .xinitrc .xsession .xsessionrc
      .pam_environment .config/autostart/ .config/systemd/ .config/environment.d/ Library/LaunchAgents/
      Library/LaunchDaemons/ Start*Menu/Programs/Startup/`,
  },
];

/**
 * Why other programs run a file, or what it names, without being told to: when somebody opens or enters the folder, installs, commits
 * or pushes. `undefined` for all other files. `path` is compared in any letter case, with the look-alike forms that some disks take for
 * the same name; links are not followed.
 *
 * Not in the list: what runs only when somebody builds, tests or starts the project (sources, `Makefile`, `build.gradle`, `conftest.py`),
 * packages that a manifest or lock names, and instructions for agents that are text alone (`AGENTS.md`, `CLAUDE.md`). `.git` is refused
 * by the filesystem itself.
 */
export function runsByItself(path: string): string | undefined {
  const key = foldKey(path);
  compiled ??= places.map(({ why, files }) => ({ why, pattern: toExpression(files) }));
  return compiled.find(({ pattern }) => pattern.test(key))?.why;
}

let compiled: readonly { readonly why: string; readonly pattern: RegExp }[] | undefined;

function toExpression(files: string): RegExp {
  const sources = files
    .trim()
    .split(/\s+/u)
    .map((file) => {
      const isFolder = file.endsWith('/');
      const names = foldKey(isFolder ? file.slice(0, -1) : file);
      const source = names.replaceAll(/[.+()[\]{}^$|?\\]/gu, '\\$&').replaceAll('*', '[^/]*');
      return `${source}${isFolder ? '(?:/|$)' : '$'}`;
    });
  return new RegExp(`(?:^|/)(?:${sources.join('|')})`, 'u');
}
