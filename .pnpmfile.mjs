// Changes of pnpm's behavior here: packages that it packs lose the condition that picks sources, which only this checkout
// has. A program that runs with it from here then still finds what its users have installed.
export const hooks = {
  beforePacking({ exports, ...manifest }) {
    if (exports === undefined) return manifest;
    const targets = Object.entries(exports).map(([subpath, target]) => {
      if (typeof target === 'string') return [subpath, target];
      const { 'holdfast-source': _source, ...published } = target;
      return [subpath, published];
    });
    return { ...manifest, exports: Object.fromEntries(targets) };
  },
};
