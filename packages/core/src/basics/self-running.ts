import { foldKey } from './fold-path.ts';

interface Places {
  /** The programs that run it and when; follows "`x` runs by itself: ". */
  readonly why: string;
  /**
   * Patterns for any depth, separated by spaces: a file name or the end of a path, with `*` for a part of a name; with a trailing `/`, a
   * folder and everything in it.
   */
  readonly files: string;
}

// Sources, besides the programs' manuals: npm "Scripts" (life cycle scripts) and ".npmrc"; pnpm ".pnpmfile.cjs"; Yarn `yarnPath`; mise
// "Hooks"; direnv ".envrc"; VS Code "Tasks" (`runOn: folderOpen`) and "Workspace Trust"; Neovim `exrc`; Emacs "Safety of File Variables";
// Dev Containers "Lifecycle scripts"; Python `site` (`sitecustomize`, `.pth`); R "Startup"; `gitattributes(5)`.
const places: readonly Places[] = [
  {
    why: 'package managers load it or run its scripts during installation',
    files: `
      package.json .npmrc .yarnrc .yarnrc.yml .yarn/ .pnpmfile.* pnpm-workspace.yaml bunfig.toml composer.json
      setup.py pyproject.toml Gemfile *.gemspec Podfile`,
  },
  {
    why: 'Git or a hook manager runs its commands at a commit, a checkout or a push',
    files: `
      .gitconfig .config/git/ .gitattributes .gitmodules .githooks/ .git-hooks/ .husky/ .huskyrc* lefthook.*
      .lefthook.* lefthook-local.* .lefthook-local.* .lefthook/ .lefthook-local/ hk.pkl .pre-commit-config.yaml
      .pre-commit-hooks.yaml .overcommit.yml .lintstagedrc* lint-staged.config.* .commitlintrc* commitlint.config.*`,
  },
  {
    why: 'the shell loads it when you enter the folder',
    files: `
      .envrc .autoenv .autoenv.zsh .tool-versions mise.toml mise.*.toml .mise.toml .mise.*.toml .rtx.toml
      mise/config*.toml .mise/ .config/mise/`,
  },
  {
    why: 'editors run it when they open the folder',
    files: `
      .vscode/ *.code-workspace .idea/ .fleet/ .zed/ .vs/ .helix/ .theia/ .idx/ .devcontainer/ .devcontainer.json
      .gitpod.yml .replit .exrc .vimrc _vimrc .gvimrc .lvimrc .nvimrc .nvim.lua .vim/ .config/nvim/ .dir-locals.el
      .dir-locals-2.el .emacs .emacs.el .emacs.d/ .config/emacs/`,
  },
  {
    why: 'coding agents load settings, hooks and MCP servers from it',
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
 * The reason why other programs run a file, or commands in it, automatically: when the folder is opened or entered, or at an install, a
 * commit or a push. `undefined` for all other files. Ignores letter case and treats the look-alike forms that some disks accept as equal;
 * does not follow links.
 *
 * Not included: files that run only when a person builds, tests or starts the project (sources, `Makefile`, `build.gradle`, `conftest.py`),
 * packages named in a manifest or lock, and text-only instructions for agents (`AGENTS.md`, `CLAUDE.md`). The filesystem itself protects
 * `.git`.
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
