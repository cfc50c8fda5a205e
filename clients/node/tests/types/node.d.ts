// As much of Node as the declarations of the client name; a program has @types/node.
declare class Buffer extends Uint8Array {}
declare namespace NodeJS {
  type Signals = string;
}
declare module "node:stream" {
  class Readable {
    pipe(to: unknown): unknown;
  }
}
