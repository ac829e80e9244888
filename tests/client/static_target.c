/*
 * static_target.c - a statically linked program, which no agent can come into.
 */
int main(void) {
    return 0;
}
