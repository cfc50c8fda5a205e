import type { Questions } from "./questions.js";

/** What every handler gets besides the question: a signal that is aborted when its answer is no longer wanted. */
export interface DelegateContext {
  signal: AbortSignal;
}

type Answer<Result> = Result | undefined | void | Promise<Result | undefined | void>;

/**
 * Handlers that decide about downloads while they run. The server asks for those that are given, and waits ten seconds
 * (flag `--delegate-timeout`). A handler that returns nothing, throws or is late has no opinion: what would happen
 * without it happens.
 */
export type Delegates = {
  [Name in keyof Questions]?: (
    question: Questions[Name]["question"],
    context: DelegateContext,
  ) => Answer<Questions[Name]["answer"]>;
};
