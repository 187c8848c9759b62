import type { Shape } from './shape.ts';

/**
 * Build tools, test runners, linters and compilers: they run code and configuration of the workspace, and read the files that they are
 * given. Not what they install or publish: `packages.ts`.
 */
const names =
  'act alembic ansible-lint ant ava babel bazel bazelisk biome black bundle-audit buck buck2 c++ cc ccache changeset check-jsonschema ' +
  'clang clang++ clang-format clang-tidy cmake cmake-format codespell commitlint cookiecutter coverage cppcheck cspell ctest cypress ' +
  'dart detekt django-admin doxygen dprint esbuild eslint eslint_d flake8 flutter g++ gatsby gcc gfortran ghc gofmt gofumpt goimports ' +
  'golangci-lint golint gradle gradlew grunt gulp hadolint hatch hugo husky invoke isort jasmine javac jekyll jest just karma ' +
  'knip kotlinc ktlint ld lefthook lerna lint-staged lld llvm-cov mage make gmake bmake markdownlint markdownlint-cli2 mdbook meson ' +
  'mix mkdocs mocha mvn mvnw mypy next ninja nose nosetests nox npm-run-all nuxt nx ocaml opam oxlint oxfmt pants parcel ' +
  'phpstan phpunit pint playwright pnpx postcss pre-commit prek prettier prettierd prisma protoc psalm publint pycodestyle pydocstyle ' +
  'pyflakes pylint pyright pytest py.test python-build qmake rake react-scripts remark rollup rspack rspec rubocop ruff ' +
  'run-s run-p rustc rustdoc rustfmt sass sbt scalafmt scons semgrep shellcheck shfmt size-limit sphinx-build sphinx-autobuild standard ' +
  'storybook stylelint svelte-kit swc swiftc swiftlint swiftformat syncpack taplo tap task tailwindcss terser tidy tox ' +
  'ts-node-dev tsc tsd tslint tsup tsdown turbo twine-check ty typedoc typst ult vale vite vitepress vitest vue-tsc vulture ' +
  'wasm-pack webpack wire xcodebuild xo yamllint zig lage moon wireit tsgo rolldown hatchling build setuptools flit autopep8 yapf bandit ' +
  'docformatter interrogate pydoc refurb deptry locust behave robot sqlfluff djlint cargo-nextest cross trunk wasm-bindgen cbindgen bindgen ' +
  'go-test gotestsum mockgen sqlc buf staticcheck revive govulncheck wails templ rake minitest sorbet srb brakeman steep ' +
  'rails artisan composer-validate php-cs-fixer phpcs phpcbf pest dotnet-format csharpier fsc fantomas stack cabal hlint ormolu fourmolu ' +
  'stylish-haskell elm elm-test elm-format purs spago dune ocamlformat rebar3 erlc dialyzer credo nimble crystal shards v ' +
  'cloc tokei scc gcov gcovr gprof size nm objdump readelf ldd strip ar ranlib autoconf automake autoreconf aclocal libtoolize pkg-config ' +
  'api-extractor attw dependency-cruiser depcheck madge ncu npm-check-updates nps wait-on http-server-test ' +
  'linkinator lychee markdown-link-check doctoc all-contributors conventional-changelog standard-version git-cliff towncrier bumpver bump2version';

const shape: Shape = {
  options:
    'o:write output:write out:write outfile:write out-file:write outdir:write out-dir:write outDir:write output-file:write output-dir:write dest:write ' +
    'destination:write log-file:write target-dir:write r:load require:load import:load loader:load rcfile:load',
  operands: 'maybe*',
  project: true,
  sends: 'publish deploy release upload push',
};

// For others `-C` has no value, or a file.
const takesFolder: ReadonlySet<string> = new Set(['ninja', 'meson', 'rake', 'prek']);
const folderShape: Shape = { ...shape, options: `${shape.options} C:folder directory:folder` };

export const toolPrograms: readonly (readonly [string, Shape])[] = names
  .split(' ')
  .map((name) => [name, takesFolder.has(name) ? folderShape : shape] as const);
