/** An event on the connection to a server. Its texts are the server's own: show them as untrusted. */
export type McpEvent =
  /** The server asked for sampling, roots, or an answer of a user who is not there. */
  | { readonly type: 'request-refused'; readonly server: string; readonly method: string }
  | {
      readonly type: 'elicitation';
      readonly server: string;
      readonly message: string;
      readonly action: 'accept' | 'decline' | 'cancel';
    }
  /** The connection ended although nobody closed it. The next call opens a new one. */
  | { readonly type: 'connection-lost'; readonly server: string }
  | { readonly type: 'tools-changed'; readonly server: string };

export type McpListener = (event: McpEvent) => void;
