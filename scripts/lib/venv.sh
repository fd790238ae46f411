# shellcheck shell=bash
# Python packages in a virtual environment inside .local, for one script each.

# venv_install FOLDER LIST: makes the environment, and makes it anew where the list of packages, or the Python that it was made with, is
# another one. Needs the start lock.
venv_install() {
    local folder=$1 list=$2 wanted log
    wanted="$(python3 --version) $(cat -- "$list")"
    [ ! -x "$folder/bin/python" ] || [ "$(cat -- "$folder/installed" 2>/dev/null)" != "$wanted" ] || return 0
    step "Installing the packages in ${list#"$PROJECT/"}"
    log=$(log_file "${folder##*/}")
    rm -rf -- "$folder"
    {
        run_in_session python3 -m venv "$folder" &&
            run_in_session "$folder/bin/python" -m pip install --quiet --disable-pip-version-check -r "$list"
    } >>"$log" 2>&1 || {
        show_log_tail "$log"
        die "could not install the packages in ${list#"$PROJECT/"}"
    }
    printf '%s\n' "$wanted" >"$folder/installed"
}
