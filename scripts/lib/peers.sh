# shellcheck shell=bash
# The Python packages of the services that the relay is measured against, in a virtual environment inside .local.

PEERS_FOLDER="$LOCAL_FOLDER/bench-python"

# peers_install: needs the start lock. Made anew where the list of packages, or the Python that it was made with, is
# another one.
peers_install() {
    local list="$PROJECT/benchmarks/peers/requirements.txt" stamp="$PEERS_FOLDER/installed" wanted log
    wanted="$(python3 --version) $(cat -- "$list")"
    [ ! -x "$PEERS_FOLDER/bin/python" ] || [ "$(cat -- "$stamp" 2>/dev/null)" != "$wanted" ] || return 0
    step "Installing the Python packages of the peers"
    log=$(log_file bench-python)
    rm -rf -- "$PEERS_FOLDER"
    {
        run_in_session python3 -m venv "$PEERS_FOLDER" &&
            run_in_session "$PEERS_FOLDER/bin/python" -m pip install --quiet --disable-pip-version-check -r "$list"
    } >>"$log" 2>&1 || {
        show_log_tail "$log"
        die "could not install the packages in ${list#"$PROJECT/"}"
    }
    printf '%s\n' "$wanted" >"$stamp"
}
