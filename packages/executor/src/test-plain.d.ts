declare module '*/direct/features.ts?plain' {
  export { openScope } from './direct/features.ts';
}
declare module '*/call/context.ts?plain' {
  export { CallContext } from './call/context.ts';
}

declare module '*/on-demand.ts?plain' {
  export { openPlainScope } from './direct/on-demand.ts';
}
