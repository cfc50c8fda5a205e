const lastingMs = 10_000;
const freeDeaths = 3;
const longestWaitMs = 60_000;

/**
 * The lives of the servers of one client: when another may be started. At once after a death; but after the fourth in a row
 * that lived for less than ten seconds it has to wait a second, then two, then four, up to a minute.
 */
export class Lives {
  #clock;
  #born;
  #died;

  /** How many servers died young since one did not. */
  youngDeaths = 0;

  /** `clock` tells the milliseconds since some moment. */
  constructor(clock = () => performance.now()) {
    this.#clock = clock;
  }

  /** A server was started. */
  begin() {
    this.#born = this.#clock();
  }

  /** That server has ended. */
  end() {
    this.#died = this.#clock();
    this.youngDeaths = this.#died - this.#born < lastingMs ? this.youngDeaths + 1 : 0;
  }

  /** The milliseconds until another may be started; 0 for at once. */
  get waitMs() {
    if (this.youngDeaths <= freeDeaths) return 0;
    const pause = Math.min(longestWaitMs, 1000 * 2 ** (this.youngDeaths - freeDeaths - 1));
    return Math.max(0, this.#died + pause - this.#clock());
  }

  /** Adds to the error of a server's end that the next one has to wait. */
  explain(error) {
    error.retryAfterMs = Math.ceil(this.waitMs);
    error.message +=
      ` It is the ${this.youngDeaths}th in a row that ended within ${lastingMs / 1000} seconds; ` +
      `another may be started in ${(error.retryAfterMs / 1000).toFixed(1)} s.`;
  }
}
